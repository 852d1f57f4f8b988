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

// An Operation describes an operation on items. Commands, tools and forms are built from it.
type Operation struct {
	// Name is the name of the command, and of the tool if there is one.
	Name string
	// Short describes the operation in a few words. Does is a sentence that describes it, without a subject and
	// without the full stop.
	Short, Does string
	// Notes are paragraphs of help for both the command and the tool. They refer to params by their flags; ToolHelp
	// replaces the flags.
	Notes []string
	// Command is the help that only the command has, and Tool is the help that only the tool has. An operation whose
	// Tool has no example has no tool.
	Command, Tool Help
	// Params are the parameters, in the order of their arguments on a command line.
	Params []*Param

	// Writes reports whether the operation changes an item. Rows reports whether it returns pages of rows; otherwise
	// it returns one item.
	Writes, Rows bool
	// Format is the default of the flag --output. If it is "", the command prints no items by default.
	Format string
	// Done describes in words what a write has done. Its argument is the item in the response. Returned is the name
	// of that item in the answer of a tool.
	Done     func(returned attr.Item) string
	Returned string

	// request makes the request from parsed values. T is nil if Parse cannot parse a PartiQL statement.
	request func(v *Values, t *keyschema.Table) (wire.Request, error)
}

// All lists the operations that send one request, in the order in which the help lists them.
var All = []*Operation{Get, Put, Update, Delete, Query, Scan, SQL}

// Values are the values of an operation's params, as the user or a language model has written them.
type Values struct {
	ask.Query // for one item, Partition and Sort are its key
	Table     string

	Item, Cursor []byte // JSON
	If, Update   string
	Statement    string
	Parameters   []string
	All, Trace   bool

	// Request, Pattern, Pages, Rows and Skip are the params of explain.
	Request, Pattern  string
	Pages, Rows, Skip int32

	// Model and Quiet are the params of the tool design_check.
	Model string
	Quiet bool

	parsed
}

// parsed holds the results of Parse.
type parsed struct {
	item       attr.Item
	condition  *string
	places     literal.Placeholders
	parameters []attr.Value
	writes     bool // the statement changes an item
	wrong      error
}

// Parse parses those values that can be parsed without the definition of a table. The user thus learns about a
// mistake before the command opens a database.
func (op *Operation) Parse(v *Values) (err error) {
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

// refuseVerb returns a usage error if the first word of a PartiQL statement is not a verb of PartiQL, such as SELECT.
// No service accepts such a statement.
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
			`write the item as {"name": "value"}`, "%q is not an item", data,
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

// Wrong returns the error with which Parse failed to parse a PartiQL statement, or nil. The service may be able to
// parse the statement, so the command sends it without knowing its table.
func (v *Values) Wrong() error { return v.wrong }

// Changes reports whether the operation changes an item. For a PartiQL statement, this depends on the statement,
// which Parse has put into v.
func (op *Operation) Changes(v *Values) bool { return op.Writes || v.writes }

// Request returns the request for a table. The request also asks for the capacity units that it consumes.
func (op *Operation) Request(v *Values, t *keyschema.Table) (wire.Request, error) {
	return op.request(v, t)
}
