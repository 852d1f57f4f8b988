package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/text"
)

// A Loss is a part of the design that the model lacks or represents
// differently.
type Loss struct {
	// Pos is the place in the file, and Path the place in the JSON, such as
	// DataModel[0].TableFacets[1].
	Pos  model.Pos
	Path string
	// What is lost, Why, and what to do about it; Hint may be empty.
	What, Why, Hint string

	settings []string // of a table, which a model does not have
	table    string   // their table
}

// String returns the loss on one line, without the hint.
func (l Loss) String() string {
	text := l.What
	if l.Why != "" {
		text += ": " + l.Why
	}
	if where := l.Pos.String(); where != "" {
		text = where + ": " + text
	}
	return text
}

// An Error says why a file cannot be imported.
type Error struct {
	Pos       model.Pos
	Msg, Hint string
}

// Error returns the place and the message, without the hint.
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
	// Tables are the tables that the file defines, if it has been read as a template, and
	// Notes what was made up for them.
	Tables []*tabledef.Schema
	Notes  []tabledef.Note
	// Streams are the items of the file or folder, instead of Data.
	Streams []Stream
}

// DefaultItems is the default of [Options].Items.
const DefaultItems = 1000

// Options configure an import. The zero value is ready to use.
type Options struct {
	// Format is the format of all files. Default: the one that [Detect] returns
	// for each.
	Format Format
	// Table is the name of the table for designs that do not name it. Default:
	// derived from the file name.
	Table string
	// Items limits the items imported per table. Default: [DefaultItems]. If
	// negative, none are imported.
	Items int
	// All makes [FromEndpoint] read all items, twice, rather than the first ones.
	All bool
}

// Import reads files into one model and lists the losses. The model passes
// [modelfile.Parse] and [world.Build]. It returns an [*Error] if no model can be
// made, or the cause of ctx.
func Import(ctx context.Context, files []File, o Options) (*model.Model, []Loss, error) {
	m, losses, err := importFiles(ctx, files, o)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Msg, e.Hint = text.Clip(e.Msg, advice.MaxText), text.Clip(e.Hint, advice.MaxText)
	}
	return m, losses, err
}

func importFiles(ctx context.Context, files []File, o Options) (*model.Model, []Loss, error) {
	im := newImporter(o)
	var docs []*document
	for _, f := range files {
		if f.Tables != nil || f.Streams != nil {
			if err := im.definitions(f); err != nil {
				return nil, nil, err
			}
			im.streams = append(im.streams, f.Streams...)
			continue
		}
		d, err := read(f.Name, f.Data)
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, d)
	}

	if len(files) == 0 {
		return nil, nil, &Error{Msg: "no file to import"}
	}
	formats := make([]Format, len(docs))
	for i, d := range docs {
		if formats[i] = o.Format; o.Format == "" || o.Format == Items || o.Format == Tables {
			formats[i] = detect(d)
		}
		if formats[i] == "" {
			return nil, nil, &Error{
				Pos: model.Pos{File: d.name}, Msg: "unknown kind of design",
				Hint: "supported: " + strings.Join(formatTitles(), "; ") + ". --format selects one",
			}
		}
	}

	for _, turn := range []int{first, middle, last} {
		for i, d := range docs {
			if turnOf(formats[i]) != turn {
				continue
			}
			if im.name == "" && turn == middle {
				im.name = slug(strings.TrimSuffix(filepath.Base(d.name), filepath.Ext(d.name)))
			}
			if err := im.read(formats[i], d); err != nil {
				return nil, nil, err
			}
		}
		switch turn {
		case first:
			im.defined = len(im.m.Tables)
		case middle:
			if err := im.schemas(); err != nil {
				return nil, nil, err
			}
		}
	}

	if len(im.streams) > 0 && len(im.m.Tables) == 0 {
		return nil, nil, noDefinition(files[0].Name)
	}
	if err := im.pour(); err != nil {
		return nil, nil, err
	}
	return im.finish(ctx, files[0].Name)
}

const (
	first = iota
	middle
	last
)

// turnOf returns when a file is read: definitions of tables first, as entities join them, and items last,
// as they need their tables.
func turnOf(f Format) int {
	switch f {
	case Tables:
		return first
	case Items:
		return last
	}
	return middle
}

// schemas reads the files of OneTable and ElectroDB, each library's together: a team has one for each
// entity of a table.
func (im *importer) schemas() error {
	if err := im.oneTable(im.onetables); err != nil {
		return err
	}
	return im.electro(im.electros)
}

func (im *importer) read(f Format, d *document) error {
	switch f {
	case Workbench:
		im.workbench(d.roots[0])
	case OneTable:
		im.onetables = append(im.onetables, d.roots...)
	case ElectroDB:
		im.electros = append(im.electros, d)
	case Tables:
		im.tables(d)
	case Items:
		return im.items(d)
	default:
		return &Error{
			Msg: fmt.Sprintf("unknown format %q", f), Hint: "the formats are " + strings.Join(FormatNames(), ", "),
		}
	}
	if len(d.roots) > 1 && f == Workbench {
		im.loss(d.roots[1], "everything after the first value of the file", "a design is one JSON value", "")
	}
	return nil
}

// An importer collects tables, items and patterns, which finish turns into a
// model.
type importer struct {
	o       Options
	m       *model.Model
	name    string
	losses  []Loss
	more    int // number of losses beyond maxLosses
	pools   map[*model.Table]*pool
	derived bool // derive patterns from entities
	shared  map[string]*model.Field
	// held and streams are items from which samples are taken; offeredItems is their number.
	held         []offered
	streams      []Stream
	offeredItems int
	counted      bool // by a census
	from         map[*model.Pattern]*node

	defined   int // tables by their definitions
	onetables []*node
	electros  []*document
	declarers map[string]*document // of entities
}

func newImporter(o Options) *importer {
	if o.Items == 0 {
		o.Items = DefaultItems
	}
	return &importer{
		o: o, m: &model.Model{}, pools: map[*model.Table]*pool{},
		shared: map[string]*model.Field{},
		from:   map[*model.Pattern]*node{}, declarers: map[string]*document{},
	}
}

// maxLosses limits the losses that are listed.
const maxLosses = 200

func (im *importer) loss(n *node, what, why, hint string) {
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
	for _, s := range []*string{&l.Path, &l.What, &l.Why, &l.Hint} {
		*s = text.Clip(*s, advice.MaxText)
	}
	im.losses = append(im.losses, l)
}

// loseUnknown records a loss for each member of n that is not known. Empty
// members do not count.
func (im *importer) loseUnknown(n *node, names ...string) {
	for _, m := range n.members() {
		if !slices.Contains(names, m.key) && !m.vacant() {
			hint := ""
			if strings.Contains(strings.ToLower(m.key), "accesspattern") {
				hint = "add its access patterns to the model"
			}
			im.loss(m, m.key, "the importer does not know this field", hint)
		}
	}
}

var notSlug = text.Pattern(`[^a-z0-9]+`)

// slug derives the name of a model from a text; it can be "".
func slug(text string) string {
	s := strings.Trim(notSlug().ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(s) > 60 {
		s = strings.Trim(s[:60], "-")
	}
	return s
}
