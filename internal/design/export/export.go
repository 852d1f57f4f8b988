package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// A Format is a format of another tool.
type Format string

// The formats.
const (
	// CloudFormation is a template in YAML with a resource for each table.
	CloudFormation Format = "cloudformation"
	// Terraform is a file of Terraform's own language.
	Terraform Format = "terraform"
	// CreateTable is the request of a CreateTable in JSON.
	CreateTable Format = "create-table"
	// Workbench is a model of NoSQL Workbench, version 3.
	Workbench Format = "workbench"
)

// A File is an exported file.
type File struct {
	// Name is a name for the file, which no other format gives to its files.
	Name string
	Data []byte
	// Losses are what the file lacks of the model, in the order of the parts.
	Losses []Part
}

// A writer writes one format.
type writer struct {
	format    Format
	title     string
	extension string
	// each says that a file is for one table.
	each bool
	// carries are the parts that the format has, beside tables with their keys and indexes.
	carries []Part
	write   func(d *design) ([]byte, error)
}

// writers are the formats in the order of their names in messages.
var writers = []writer{
	{
		CloudFormation, "a CloudFormation template", ".template.yaml", false,
		[]Part{About, TableOrder, TTL}, cloudFormation,
	},
	{Terraform, "Terraform", ".tf", false, []Part{TableOrder, TTL}, terraform},
	{CreateTable, "requests of CreateTable", ".create-table.json", true, []Part{TableOrder}, createTable},
	{
		Workbench, "a model of NoSQL Workbench", ".workbench.json", false,
		[]Part{Name, About, TableOrder, Entities, Items}, workbench,
	},
}

// FormatNames returns the names of all formats.
func FormatNames() (names []string) {
	for _, w := range writers {
		names = append(names, string(w.format))
	}
	return names
}

// Title returns what a file of the format is, or "" for an unknown format.
func (f Format) Title() string {
	if w := writerOf(f); w != nil {
		return w.title
	}
	return ""
}

func writerOf(f Format) *writer {
	if i := slices.IndexFunc(writers, func(w writer) bool { return w.format == f }); i >= 0 {
		return &writers[i]
	}
	return nil
}

// Export writes a model in a format. The format create-table has a file for each table, the others
// have one file.
func Export(m *model.Model, f Format) (all []File, err error) {
	w := writerOf(f)
	if w == nil {
		return nil, fmt.Errorf("unknown format %q: use one of %s", f, strings.Join(FormatNames(), ", "))
	}
	if !w.each {
		file, err := w.file(m, m.Name)
		return []File{file}, err
	}
	for _, t := range m.Tables {
		file, err := w.file(Only(m, t), t.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	return all, nil
}

func (w *writer) file(m *model.Model, name string) (File, error) {
	d := &design{m: m, w: w, lost: map[Part]bool{}}
	data, err := w.write(d)
	return File{Name: name + w.extension, Data: data, Losses: d.losses()}, err
}

// A design is a model that is written.
type design struct {
	m *model.Model
	w *writer
	// lost are the parts that the writer could not carry, although its format has them.
	lost map[Part]bool
}

// Only returns a model with one of its tables, and its entities and items.
func Only(m *model.Model, t *model.Table) *model.Model {
	one := *m
	one.Tables = []*model.Table{t}
	one.Entities = slices.DeleteFunc(slices.Clone(m.Entities), func(e *model.Entity) bool { return e.Table != t })
	one.Items = slices.DeleteFunc(slices.Clone(m.Items), func(r *model.RawItem) bool { return r.Table != t })
	return &one
}
