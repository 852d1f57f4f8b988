package convert

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/text"
)

// A Loss is a part of the imported design that the model does not have, or that it represents differently.
type Loss struct {
	Pos model.Pos
	// What is the lost part, and Why the reason. Hint says what to do about the loss, or is "".
	What, Why, Hint string
}

// String returns the loss on one line, without the hint.
func (l Loss) String() string {
	text := l.What
	if l.Why != "" {
		text += ": " + l.Why
	}
	return placed(l.Pos, text)
}

// placed returns a text with its place in front. If the place is empty, it returns only the text.
func placed(at model.Pos, text string) string {
	if where := at.String(); where != "" {
		return where + ": " + text
	}
	return text
}

// An Error says why a file cannot be imported.
type Error struct {
	Pos       model.Pos
	Msg, Hint string
}

// Error returns the place and the message, without the hint.
func (e *Error) Error() string { return placed(e.Pos, e.Msg) }

// A File is a file to import.
type File struct {
	Name string
	Data []byte
	// Tables are the tables in the file, if the caller has already read the file as a template of a deployment. Notes
	// say which parameters the reader made up values for.
	Tables []*tabledef.Schema
	Notes  []tabledef.Note
	// Streams are the items of the file or folder, if the caller reads them. Import then ignores Data.
	Streams []Stream
}

// DefaultItems is the default of [Options].Items.
const DefaultItems = 1000

// Options configure an import. The zero value is ready to use.
type Options struct {
	// Format is the format of the files. Default: detected from the content of each file.
	Format Format
	// Table is the name of the table for designs that do not name their table. Default: derived from the file name.
	Table string
	// Items limits the items imported per table. Default: [DefaultItems]. If
	// negative, none are imported.
	Items int
	// All makes [FromEndpoint] read all items, not only the first ones. It reads them twice.
	All bool
}

// Import reads files into one model and lists the losses. [modelfile.Parse] and [dataset.Build] accept the model. If
// the files do not give a model, the error is an [*Error]. If ctx is done, the error is its cause.
func Import(ctx context.Context, files []File, o Options) (*model.Model, []Loss, error) {
	m, losses, err := importFiles(ctx, files, o)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Msg, e.Hint = text.Clip(e.Msg, advice.MaxText), text.Clip(e.Hint, advice.MaxText)
	}
	return m, losses, err
}

func importFiles(ctx context.Context, files []File, o Options) (*model.Model, []Loss, error) {
	if len(files) == 0 {
		return nil, nil, &Error{Msg: "no file to import"}
	}
	im := newImporter(o)
	var onetables, electros []*node
	var items []*document
	for _, f := range files {
		if f.Tables != nil || f.Streams != nil {
			im.rename(f.Name)
			im.definitions(f)
			im.streams = append(im.streams, f.Streams...)
			continue
		}
		d, err := read(f.Name, f.Data)
		if err != nil {
			return nil, nil, err
		}
		format := cmp.Or(o.Format, detect(d))
		// a file of items or tables may have any name, so name the model after its tables instead
		if format != Items && format != Tables {
			im.rename(f.Name)
		}
		switch format {
		case Workbench:
			im.workbench(d.roots[0])
		case OneTable:
			onetables = append(onetables, d.roots...)
		case ElectroDB:
			for _, n := range d.roots {
				electros = append(electros, electroList(n)...)
			}
		case Items:
			items = append(items, d)
		case Tables:
			for _, n := range d.roots {
				tables, _, err := (tabledef.Reader{}).ReadData(f.Name, n.raw())
				if err != nil {
					return nil, nil, &Error{Msg: err.Error(), Hint: advice.Of(err)}
				}
				im.definitions(File{Tables: tables})
			}
		default:
			return nil, nil, &Error{Pos: model.Pos{File: f.Name}, Msg: "unknown kind of design", Hint: supported}
		}
	}
	if err := im.schemas(onetables, im.oneTableKeys, im.oneTable); err != nil {
		return nil, nil, err
	}
	if err := im.schemas(electros, electroTable, im.electroEntity); err != nil {
		return nil, nil, err
	}

	for _, d := range items { // read items last, because their tables must exist
		if len(im.m.Tables) == 0 {
			return nil, nil, noDefinition(d.name)
		}
		for _, n := range d.roots {
			im.itemsIn(n, d.name)
		}
	}
	if len(im.streams) > 0 && len(im.m.Tables) == 0 {
		return nil, nil, noDefinition(files[0].Name)
	}
	return im.finish(ctx, files[0].Name)
}

// rename names the model after a file, unless the model has a name.
func (im *importer) rename(file string) {
	if im.name == "" {
		im.name = slug(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
}

// An importer collects tables, declared entities and items. Its method finish turns them into a model.
type importer struct {
	o      Options
	m      *model.Model
	name   string
	losses []Loss
	more   int // number of losses beyond maxLosses
	pools  map[*model.Table]*pool
	shared map[string]*model.Field
	// held and streams are the items from which pour takes samples. offered is the number of all items.
	held    []row
	streams []Stream
	offered int
}

func newImporter(o Options) *importer {
	if o.Items == 0 {
		o.Items = DefaultItems
	}
	return &importer{
		o: o, m: &model.Model{Seed: 1}, pools: map[*model.Table]*pool{}, shared: map[string]*model.Field{},
	}
}

// maxLosses is the largest number of losses listed.
const maxLosses = 200

func (im *importer) loss(n *node, what, why, hint string) { im.lossAt(n.pos(), what, why, hint) }

func (im *importer) lossAt(at model.Pos, what, why, hint string) {
	im.add(Loss{Pos: at, What: what, Why: why, Hint: hint})
}

func (im *importer) add(l Loss) {
	if len(im.losses) >= maxLosses {
		im.more++
		return
	}
	for _, s := range []*string{&l.What, &l.Why, &l.Hint} {
		*s = text.Clip(*s, advice.MaxText)
	}
	im.losses = append(im.losses, l)
}

var notSlug = text.Pattern(`[^a-z0-9]+`)

// slug derives the name of a model from a text. The result may be "".
func slug(text string) string {
	s := strings.Trim(notSlug().ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(s) > 60 {
		s = strings.Trim(s[:60], "-")
	}
	return s
}
