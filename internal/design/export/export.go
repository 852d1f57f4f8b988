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
	// CDK is a construct in TypeScript for version 2 of the AWS CDK.
	CDK Format = "cdk"
	// CreateTable is the request of a CreateTable in JSON.
	CreateTable Format = "create-table"
	// Workbench is a model of NoSQL Workbench, version 3.
	Workbench Format = "workbench"
	// OneTable is a JSON schema of DynamoDB OneTable, onetable:1.1.0.
	OneTable Format = "onetable"
	// ElectroDB is a JSON list of the schemas of entities.
	ElectroDB Format = "electrodb"
)

// A File is an exported file.
type File struct {
	// Name is a name for the file, with the extension of its format.
	Name string
	// Data is nil if the format has nothing for the table of the file.
	Data []byte
	// Losses are what the file lacks of the model, in the order of [Parts].
	Losses []Loss
	// Advice says what users of the file must do to read items that the other tool did not write, or is "".
	Advice string
}

// A writer writes one format.
type writer struct {
	format    Format
	title     string
	extension string
	// each says that a file is for one table.
	each    bool
	carries []Part
	write   func(d *design) ([]byte, error)
}

// writers are the formats in the order of their names in messages. It is filled by init, because
// writers refer to it.
var writers []writer

func init() {
	tables := []Part{Tables, TableNames, TableOrder, TTL, KeyTypes, Indexes, LocalIndexes, Projections}
	writers = []writer{
		{CloudFormation, "a CloudFormation template", ".yaml", false, append([]Part{About}, tables...), cloudFormation},
		{Terraform, "Terraform", ".tf", false, tables, terraform},
		{CDK, "a construct of the AWS CDK in TypeScript", ".ts", false, tables, cdk},
		{
			CreateTable, "requests of CreateTable", ".json", true,
			[]Part{Tables, TableNames, TableOrder, Indexes, LocalIndexes, Projections, KeyTypes}, createTable,
		},
		{
			Workbench, "a model of NoSQL Workbench", ".json", false,
			[]Part{
				Name, About, Tables, TableNames, TableOrder, Indexes, LocalIndexes, Projections, KeyTypes, Entities,
				Items, Owners, Patterns, PatternAbout,
			},
			workbench,
		},
		{
			OneTable, "a OneTable schema", ".json", true,
			[]Part{
				Name, About, Tables, TTL, Indexes, IndexOrder, LocalIndexes, Projections, KeyTypes, Entities,
				Templates, Types, Constants, Items, Owners,
			},
			oneTable,
		},
		{
			ElectroDB, "ElectroDB schemas", ".json", true,
			[]Part{
				Tables, TableNames, Indexes, LocalIndexes, Projections, KeyTypes, Entities, Templates, Types, Constants,
			},
			electroDB,
		},
	}
}

// Formats returns all formats.
func Formats() (all []Format) {
	for _, w := range writers {
		all = append(all, w.format)
	}
	return all
}

// FormatNames returns the names of all formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, string(f))
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

// Export writes a model in a format. The formats create-table, onetable and
// electrodb have a file for each table, the others one file.
func Export(m *model.Model, f Format) ([]File, error) {
	w := writerOf(f)
	if w == nil {
		return nil, fmt.Errorf("unknown format %q: use one of %s", f, strings.Join(FormatNames(), ", "))
	}
	if !w.each || len(m.Tables) == 1 {
		file, err := w.file(m, m.Name)
		return []File{file}, err
	}

	var all []File
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
	d := &design{m: m, w: w, facts: facts(m)}
	data, err := w.write(d)
	return File{Name: name + w.extension, Data: data, Losses: d.losses(), Advice: d.advice}, err
}

// A design is a model that is written, with what the file will lack.
type design struct {
	m     *model.Model
	w     *writer
	facts []fact
	lost  []single
	// advice is that of the file.
	advice string
}

// A single is a part of one thing that the writer could not carry, though its format carries
// that part of others.
type single struct {
	part Part
	name string
}

// lose records that the file lacks a part of one thing.
func (d *design) lose(part Part, name string) {
	if s := (single{part, name}); !slices.Contains(d.lost, s) {
		d.lost = append(d.lost, s)
	}
}

// Only returns the part of a model that is about one table.
func Only(m *model.Model, t *model.Table) *model.Model {
	one := *m
	one.Tables = []*model.Table{t}
	one.Entities, one.Items, one.Patterns, one.Fields, one.Allow = nil, nil, nil, nil, nil
	for _, e := range m.Entities {
		if e.Table == t {
			one.Entities = append(one.Entities, e)
		}
	}

	for _, f := range m.Fields {
		if slices.ContainsFunc(one.Entities, func(e *model.Entity) bool { return slices.Contains(e.Fields, f) }) {
			one.Fields = append(one.Fields, f)
		}
	}

	for _, r := range m.Items {
		if r.Table == t {
			one.Items = append(one.Items, r)
		}
	}

	for _, p := range m.Patterns {
		if p.Table == t {
			one.Patterns = append(one.Patterns, p)
		}
	}

	for _, a := range m.Allow {
		if a.On == "" || a.On == t.Name || t.Index(a.On) != nil || one.Entity(a.On) != nil || one.Pattern(a.On) != nil {
			one.Allow = append(one.Allow, a)
		}
	}
	return &one
}
