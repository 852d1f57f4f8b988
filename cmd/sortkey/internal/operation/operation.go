package operation

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// An Operation is a row of the table.
type Operation struct {
	// Name is that of the command, and of the tool if there is one.
	Name string
	// Short says in a few words what it does; Does says it in a sentence without subject and full stop.
	Short, Does string
	// Notes are paragraphs of help for everybody. They name flags as the command has them.
	Notes []string
	// Command and Tool are what only one of them says. There is no tool if it has no example.
	Command, Tool Help
	// Params are in the order of a command line.
	Params []*Param

	// Writes says that it changes an item, and Rows that it answers with pages of rows, not with one item.
	Writes, Rows bool
	// Format is how the command prints items unless a flag says otherwise, "" for not at all.
	Format string
	// Done says what a write did, given the item that it returned; Returned names that item in the answer of a tool.
	Done     func(returned attr.Item) string
	Returned string

	// request makes the request from values that are parsed. The table is nil if a statement does not name it.
	request func(v *Values, t *keyschema.Table) (wire.Request, error)
}

// All lists the operations that send one request, in the order of the help.
var All = []*Operation{Get, Put, Update, Delete, Query, Scan, SQL}

// Named returns the operation with a name, or nil.
func Named(name string) *Operation {
	i := slices.IndexFunc(All, func(op *Operation) bool { return op.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Values are what somebody gives for the params of an operation.
type Values struct {
	ask.Query // also the key of an item: Partition and Sort
	Table     string

	Item, Cursor []byte // JSON
	If, Update   string
	Statement    string
	Parameters   []string
	All, Trace   bool

	// Request, Pattern, Operation, Entity, Pages, Rows and Skip are those of explain.
	Request, Pattern, Operation string
	Entity                      []string
	Pages, Rows, Skip           int32

	// Model and Quiet are those of the tool on designs.
	Model string
	Quiet bool

	parsed
}

// parsed is what the texts in values say.
type parsed struct {
	item       attr.Item
	condition  *string
	places     literal.Placeholders
	parameters []attr.Value
	writes     bool // the statement changes an item
	wrong      error
}

// Parse reads what can be read without the table, so that a mistake is found before a database is opened.
func (op *Operation) Parse(v *Values) (err error) {
	if v.Limit < 0 {
		return ask.UsageError("omit --limit, or give a number from 1", "--limit must not be negative")
	}
	if op == Put {
		if v.item, err = parseItem(v.Item); err != nil {
			return err
		}
	}
	if v.condition, err = ask.Expression(&v.places, v.If); err != nil {
		return fmt.Errorf("--if: %w", err)
	}
	if op != SQL {
		return nil
	}

	for _, param := range v.Parameters {
		p, err := ask.Parameter(param)
		if err != nil {
			return err
		}
		v.parameters = append(v.parameters, p)
	}
	v.writes = !partiql.IsSelect(v.Statement)
	statement, wrong := partiql.Parse(v.Statement, v.parameters)
	if v.wrong = wrong; wrong == nil {
		v.Table, v.Index = statement.Table, statement.Index
		return nil
	}
	return refuseVerb(v.Statement)
}

// refuseVerb returns the error of a statement that no service can read by its first word.
func refuseVerb(statement string) error {
	verbs := []string{"SELECT", "INSERT", "UPDATE", "DELETE"}
	first := regexp.MustCompile(`^\s*([A-Za-z]+)`).FindStringSubmatch(statement)
	if first == nil || slices.Contains(verbs, strings.ToUpper(first[1])) {
		return nil
	}

	help := "a statement begins with " + text.Join(verbs, "or")
	if nearest, ok := text.Nearest(first[1], verbs); ok {
		help = "did you mean " + nearest + "?"
	}
	return ask.UsageError(help, "%s begins no statement", first[1])
}

func parseItem(data []byte) (attr.Item, error) {
	if !strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		return nil, ask.UsageError(
			`write the item as {"name": "value"}, or - and a file after <`, "%q is not an item", data,
		)
	}
	it, err := transfer.DecodeItem(data)
	if err != nil {
		if why, syntax := strings.CutPrefix(err.Error(), "jsontext: "); syntax {
			err = errors.New("JSON: " + why)
		}
		return nil, ask.UsageError(
			`write plain JSON such as {"id": "x"}, or DynamoDB JSON such as {"id": {"S": "x"}}`, "the item: %v", err,
		)
	}
	return it, nil
}

// Wrong returns the error of a statement that only the service may be able to read: its table is not known.
func (v *Values) Wrong() error { return v.wrong }

// Changes reports whether the operation changes an item.
func (op *Operation) Changes(v *Values) bool { return op.Writes || v.writes }

// Request returns the request for a table, which asks for the units that it consumes.
func (op *Operation) Request(v *Values, t *keyschema.Table) (wire.Request, error) {
	return op.request(v, t)
}

// TakesKey reports whether a key is among the arguments.
func (op *Operation) TakesKey() bool {
	return slices.ContainsFunc(op.Params, func(p *Param) bool { return p.Complete == Partitions })
}
