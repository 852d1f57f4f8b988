package convert

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design"
)

// A Loss is something of the design that the model does not have, or has in
// another way.
type Loss struct {
	// Pos is where it is in the file that was read, and Path its place in the
	// JSON, such as DataModel[0].TableFacets[1].
	Pos  design.Pos
	Path string
	// What is lost, Why, and what can be done about it; Hint may be empty.
	What, Why, Hint string
}

// String returns the loss on one line, without the hint.
func (l Loss) String() string {
	text := l.What + ": " + l.Why
	if where := l.Pos.String(); where != "" {
		text = where + ": " + text
	}
	return text
}

// An Error says why a file cannot be imported.
type Error struct {
	Pos       design.Pos
	Msg, Hint string
}

// Error returns the place and what is wrong, without the hint.
func (e *Error) Error() string {
	if where := e.Pos.String(); where != "" {
		return where + ": " + e.Msg
	}
	return e.Msg
}

// A File is a file to import.
type File struct {
	Name string
	Data []byte
}

// DefaultItems is how many items of a table are imported unless told otherwise.
const DefaultItems = 1000

// Options configure an import. The zero value is ready to use.
type Options struct {
	// Format is that of all files. Default: what [Detect] says of each.
	Format Format
	// Name is the model's. Default: that of the design, or of its file.
	Name string
	// Table is the name of the table, for designs that do not name theirs.
	// Default: one made of the file's name.
	Table string
	// Items is how many items of a table are imported at most. Default:
	// [DefaultItems]. Negative imports none.
	Items int
}

// Import reads files into one model and lists what could not be carried over.
// The model passes [design.Parse] and [design.Build]. What is not understood is
// a loss; the error is an [*Error] when nothing is, or that of ctx.
func Import(ctx context.Context, files []File, o Options) (*design.Model, []Loss, error) {
	im := newImporter(o)
	var docs []*document
	for _, f := range files {
		d, err := read(f.Name, f.Data)
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, d)
	}
	if len(docs) == 0 {
		return nil, nil, &Error{Msg: "there is no file to import"}
	}
	formats := make([]Format, len(docs))
	for i, d := range docs {
		if formats[i] = o.Format; o.Format == "" || o.Format == Items || o.Format == Tables {
			formats[i] = detect(d)
		}
		if formats[i] == "" {
			return nil, nil, &Error{
				Pos: design.Pos{File: d.name}, Msg: "this is no design that can be imported",
				Hint: "what can be: " + strings.Join(formatTitles(), "; ") + ". --format says which it is",
			}
		}
	}
	// Items come last, when all tables are known.
	for _, last := range []bool{false, true} {
		for i, d := range docs {
			if (formats[i] == Items) != last {
				continue
			}
			if im.name == "" && !last && formats[i] != Tables {
				im.name = slug(strings.TrimSuffix(filepath.Base(d.name), filepath.Ext(d.name)))
			}
			if err := im.read(formats[i], d); err != nil {
				return nil, nil, err
			}
		}
	}
	return im.finish(ctx, docs[0].name)
}

func (im *importer) read(f Format, d *document) error {
	switch f {
	case Workbench:
		im.workbench(d.roots[0])
	case OneTable:
		im.oneTable(d.roots[0])
	case ElectroDB:
		im.electro(d)
	case MCP:
		im.mcp(d.roots[0])
	case Tables:
		im.tables(d)
	case Items:
		return im.items(d)
	default:
		return &Error{Msg: fmt.Sprintf("there is no format %q", f), Hint: "the formats are " + strings.Join(FormatNames(), ", ")}
	}
	if len(d.roots) > 1 && f != Tables && f != ElectroDB {
		im.lose(d.roots[1], "what follows the first value of the file", "a design is one JSON value", "")
	}
	return nil
}

// An importer collects tables, items and patterns, of which finish makes a
// model.
type importer struct {
	o       Options
	m       *design.Model
	name    string
	losses  []Loss
	more    int // losses beyond maxLosses
	pools   map[*design.Table]*pool
	derived bool // patterns are derived from entities
	shared  map[string]*design.Field
	from    map[*design.Pattern]*node
}

func newImporter(o Options) *importer {
	if o.Items == 0 {
		o.Items = DefaultItems
	}
	return &importer{
		o: o, m: &design.Model{}, name: slug(o.Name), pools: map[*design.Table]*pool{}, shared: map[string]*design.Field{},
		from: map[*design.Pattern]*node{},
	}
}

// maxLosses is how many losses are listed one by one.
const maxLosses = 200

func (im *importer) lose(n *node, what, why, hint string) {
	l := Loss{What: what, Why: why, Hint: hint}
	if n != nil {
		l.Pos, l.Path = n.pos(), n.path()
	}
	im.add(l)
}

func (im *importer) add(l Loss) {
	if len(im.losses) >= maxLosses {
		im.more++
		return
	}
	im.losses = append(im.losses, l)
}

// known lists the members of n that are none of these. Members that are there
// and empty are not worth a word.
func (im *importer) known(n *node, names ...string) {
	for _, m := range n.members() {
		if !slices.Contains(names, m.key) && !m.vacant() {
			hint := ""
			if strings.Contains(strings.ToLower(m.key), "accesspattern") {
				hint = "write its access patterns into the model"
			}
			im.lose(m, m.key, "the importer does not know this field", hint)
		}
	}
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes the name of a model of any text; "" when nothing is left.
func slug(text string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(s) > 60 {
		s = strings.Trim(s[:60], "-")
	}
	return s
}
