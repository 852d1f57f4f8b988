package operation

import (
	"regexp"
	"slices"
	"strings"
)

// A Param is a parameter of an operation. If Name is "", only the command has the parameter. If Arg and Flag are both
// "", only the tool has it.
type Param struct {
	// Name is the name of the argument of a tool and of the field of a form.
	Name string
	// Arg is the name of the argument in the usage line.
	Arg string
	// Flag and Letter are the long and the short name of the flag.
	Flag, Letter string
	// What names the argument in an error message, such as "a table".
	What string
	// Help describes the param, with the name of its value in backquotes. The help of the command is Help followed by
	// Command, and the help of the tool is Help followed by Tool.
	Help          string
	Command, Tool string
	Kind          Kind
	// Least is the least value of a number. Nil means that any number is allowed.
	Least    *float64
	Required bool
	// Rest reports whether the param takes all arguments that the required params leave.
	Rest     bool
	Complete Completion
	// To returns a pointer to the param's value in values: a *string, *[]string, *int32, *bool or *[]byte.
	To func(*Values) any
}

// A Kind is the kind of a param's value.
type Kind uint8

// The kinds. The value of a Request param is a text. If a language model writes a JSON object instead, the tool
// accepts it.
const (
	Text Kind = iota
	List      // of texts
	Number
	Switch
	Object
	Request
)

// A Completion determines how a shell completes a param.
type Completion uint8

// The completions.
const (
	Nothing Completion = iota
	Tables
	Indexes
	SortKeys // of a partition
	Patterns // of the model
)

// Param returns the param with a name, or nil.
func (op *Operation) Param(name string) *Param {
	i := slices.IndexFunc(op.Params, func(p *Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return op.Params[i]
}

// FlagHelp returns the help of the flag.
func (p *Param) FlagHelp() string { return p.Help + p.Command }

// placeholder matches the name of a value in Help, which is in backquotes.
var placeholder = regexp.MustCompile("`[^`]*`")

// ToolHelp returns the help of a tool's argument. It writes the name of the value as an ordinary word.
func (p *Param) ToolHelp() string {
	return placeholder.ReplaceAllStringFunc(p.Help, func(name string) string {
		if name == "`N`" {
			return "this many"
		}
		return strings.ToLower(strings.Trim(name, "`"))
	}) + p.Tool
}

var (
	table = &Param{
		Name: "table", Arg: "TABLE", What: "a table", Help: "name of the table", Required: true, Complete: Tables,
		To: func(v *Values) any { return &v.Table },
	}
	partition = &Param{
		Name: "partition", Arg: "PARTITION", What: "a partition", Help: "value of the partition key",
		Tool:     "; several with commas between",
		Required: true, To: func(v *Values) any { return &v.Partition },
	}
	sort = &Param{
		Name: "sort", Arg: "SORT-CONDITION", Help: "condition on the sort key, such as 'ORDER#*'",
		Tool: "; several with commas between",
		Rest: true, To: func(v *Values) any { return &v.Sort },
	}
	keyPartition = &Param{
		Name: "partition", Arg: "PARTITION", What: "the key of an item", Help: "value of the partition key",
		Required: true, To: func(v *Values) any { return &v.Partition },
	}
	keySort = &Param{
		Name: "sort", Arg: "SORT", Help: "value of the sort key, if the table has one", Complete: SortKeys,
		To: func(v *Values) any { return &v.Sort },
	}
	index = &Param{
		Name: "index", Flag: "index", Letter: "i", Help: "read the index with this `NAME` instead of the table",
		Complete: Indexes, To: func(v *Values) any { return &v.Index },
	}
	filter = &Param{
		Name: "filter", Flag: "filter",
		Help: "return only rows for which the `EXPRESSION` is true, such as 'total > 10'; quote text in it",
		To:   func(v *Values) any { return &v.Filter },
	}
	project = &Param{
		Name: "project", Flag: "project", Kind: List,
		Help: "return only these `ATTRIBUTES`", Command: ", separated by commas",
		To: func(v *Values) any { return &v.Project },
	}
	limit = &Param{
		Name: "limit", Flag: "limit", Help: "read at most `N` rows per page, counted before the filter", Kind: Number,
		Least: new(1.0), To: func(v *Values) any { return &v.Limit },
	}
	descending = &Param{
		Name: "descending", Flag: "desc", Help: "read backwards, from the end of the range", Kind: Switch,
		To: func(v *Values) any { return &v.Backwards },
	}
	consistent = &Param{
		Name: "consistent", Flag: "consistent", Help: "read consistently, for twice the units; not in global indexes",
		Kind: Switch, To: func(v *Values) any { return &v.Consistent },
	}
	cursor = &Param{
		Name: "cursor", Help: "lastEvaluatedKey of the answer to go on after", Kind: Object,
		To: func(v *Values) any { return &v.Cursor },
	}
	all = &Param{Flag: "all", Help: "read all pages", Kind: Switch, To: func(v *Values) any { return &v.All }}

	condition = &Param{
		Name: "if", Flag: "if",
		Help: "write only if the `CONDITION` is true for the item that is there; quote text in it",
		To:   func(v *Values) any { return &v.If },
	}
)

// Skip is the number of lines that a tool skips before its answer. If the server had to cut an answer, a language
// model uses Skip to get the rest.
var Skip = &Param{
	Name: "skip", Help: "leave out so many lines, to go on after a cut", Kind: Number, Least: new(0.0),
	To: func(v *Values) any { return &v.Skip },
}

// limited returns a copy of the param limit. Its help for tools says that the default is rows.
func limited(rows string) *Param {
	p := *limit
	p.Tool = "; default " + rows
	return &p
}

// optional returns copies of params with Required unset.
func optional(params ...*Param) (copies []*Param) {
	for _, p := range params {
		own := *p
		own.Required = false
		copies = append(copies, &own)
	}
	return copies
}
