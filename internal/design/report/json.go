package report

import (
	"encoding/json"
	"io"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
)

// The members of the JSON form. They never change; new ones may be added.

type jsonResult struct {
	Model    jsonModel     `json:"model"`
	OK       bool          `json:"ok"` // no finding is an error
	Items    int           `json:"items"`
	Scale    float64       `json:"scale"` // share of the declared items that were generated
	Summary  jsonSummary   `json:"summary"`
	Patterns []jsonPattern `json:"patterns"`
	Tables   []jsonTable   `json:"tables"`
	Findings []jsonFinding `json:"findings"`
}

type jsonModel struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	File  string `json:"file,omitempty"`
}

type jsonSummary struct {
	Patterns   int `json:"patterns"`
	AsExpected int `json:"asExpected"`
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Notes      int `json:"notes"`
}

type jsonPlace struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

type jsonPattern struct {
	Name      string          `json:"name"`
	About     string          `json:"about,omitempty"`
	Place     *jsonPlace      `json:"place,omitempty"`
	OK        bool            `json:"ok"`
	Operation string          `json:"operation,omitempty"`
	Request   json.RawMessage `json:"request,omitempty"`
	// NotARange says why there is no request.
	NotARange *jsonRefusal `json:"notARange,omitempty"`
	// Units are the read units that the pattern consumes. Waste is the share of
	// the bytes read that are not returned.
	Units float64 `json:"units"`
	Waste float64 `json:"waste"`
	Rate  float64 `json:"rate,omitempty"`
	// Growth is the number of rows at the declared scale for each row read.
	Growth float64     `json:"growth"`
	Spread *jsonSpread `json:"spread,omitempty"`
	// Report is what sortkey explain --json prints.
	Report   any           `json:"report,omitempty"`
	Failures []jsonFinding `json:"failures"`
}

// A jsonSpread is what the pattern reads in other partitions; worst costs most.
type jsonSpread struct {
	Partitions int         `json:"partitions"`
	P50        jsonReading `json:"p50"`
	P95        jsonReading `json:"p95"`
	Worst      jsonReading `json:"worst"`
}

type jsonReading struct {
	Partition []json.RawMessage `json:"partition"`
	Request   json.RawMessage   `json:"request"`
	Rows      int               `json:"rows"`
	Examined  int               `json:"examined"`
	Bytes     int               `json:"bytes"`
	Pages     int               `json:"pages"`
	Units     float64           `json:"units"`
	Waste     float64           `json:"waste"`
	// Growth is the number of rows at the declared scale for each row examined.
	Growth float64 `json:"growth"`
}

func jsonReadingOf(r *check.Reading) jsonReading {
	j := jsonReading{
		Request: r.Request, Rows: r.Rows, Examined: r.Examined, Bytes: r.Bytes, Pages: r.Pages, Units: r.Units,
		Waste: r.Waste, Growth: r.Growth,
	}
	for _, v := range r.Key {
		j.Partition = append(j.Partition, v.AppendJSON(nil))
	}
	return j
}

type jsonRefusal struct {
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

type jsonTable struct {
	Table      string `json:"table"`
	Index      string `json:"index,omitempty"`
	Items      int    `json:"items"`
	Bytes      int    `json:"bytes"`
	Partitions int    `json:"partitions"`
	// DeclaredItems and DeclaredBytes are Items and Bytes at the declared
	// scale.
	DeclaredItems float64      `json:"declaredItems"`
	DeclaredBytes float64      `json:"declaredBytes"`
	Entities      []jsonEntity `json:"entities"`
	MostItems     *jsonHottest `json:"mostItems,omitempty"`
	MostBytes     *jsonHottest `json:"mostBytes,omitempty"`
	MostReads     *jsonHottest `json:"mostReads,omitempty"`
	MostWrites    *jsonHottest `json:"mostWrites,omitempty"`
}

type jsonEntity struct {
	Entity string `json:"entity"` // "" for items that no entity describes
	Items  int    `json:"items"`
	Bytes  int    `json:"bytes"`
}

// A jsonHottest is a partition; reads and writes are units per second.
type jsonHottest struct {
	Partition []json.RawMessage `json:"partition"`
	Items     int               `json:"items"`
	Bytes     int               `json:"bytes"`
	// DeclaredItems and DeclaredBytes are Items and Bytes at the declared
	// scale.
	DeclaredItems float64 `json:"declaredItems"`
	DeclaredBytes float64 `json:"declaredBytes"`
	Reads         float64 `json:"reads"`
	Writes        float64 `json:"writes"`
}

type jsonFinding struct {
	Rule     string     `json:"rule"`
	Severity string     `json:"severity"` // error, warning or note
	Place    *jsonPlace `json:"place,omitempty"`
	Table    string     `json:"table,omitempty"`
	Index    string     `json:"index,omitempty"`
	Entity   string     `json:"entity,omitempty"`
	Pattern  string     `json:"pattern,omitempty"`
	Message  string     `json:"message"`
	Keys     []string   `json:"keys"`
	Advice   string     `json:"advice,omitempty"`
	// Accepted is the reason why the model accepts the finding.
	Accepted string `json:"accepted,omitempty"`
}

// JSON writes a result for programs: one object with the members model, ok,
// items, scale, summary, patterns, tables and findings. Members never change
// their names; new ones may be added. Keys and items are in DynamoDB JSON.
func JSON(out io.Writer, r *check.Result) error {
	j := jsonResult{
		Model: jsonModel{Name: r.Model.Name, About: r.Model.About, File: r.Model.Pos.File},
		OK:    !r.Failed(model.Error), Items: r.Items, Scale: r.Scale,
		Summary: jsonSummary{
			Patterns: len(r.Patterns), Errors: r.Count(model.Error), Warnings: r.Count(model.Warning),
			Notes: r.Count(model.Note),
		},
		Patterns: []jsonPattern{}, Tables: []jsonTable{}, Findings: jsonFindings(r.Findings),
	}
	for i := range r.Patterns {
		pr := &r.Patterns[i]
		if pr.OK() {
			j.Summary.AsExpected++
		}
		j.Patterns = append(j.Patterns, jsonPatternOf(pr))
	}
	for _, s := range r.Tables {
		j.Tables = append(j.Tables, jsonTableOf(s))
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(j)
}

func jsonPatternOf(pr *check.PatternResult) jsonPattern {
	p := jsonPattern{
		Name: pr.Pattern.Name, About: pr.Pattern.About, Place: jsonPlaceOf(pr.Pattern.Pos), OK: pr.OK(),
		Operation: pr.Pattern.Operation, Request: pr.Request(), Units: pr.Units(), Waste: pr.Waste(),
		Rate: pr.Pattern.Rate, Growth: pr.Growth, Failures: jsonFindings(pr.Failures),
	}
	if pr.Compile != nil {
		p.NotARange = &jsonRefusal{Message: pr.Compile.Msg, Advice: pr.Compile.Advice}
	}
	if s := pr.Spread; s != nil {
		p.Spread = &jsonSpread{s.Partitions, jsonReadingOf(&s.P50), jsonReadingOf(&s.P95), jsonReadingOf(&s.Worst)}
	}
	if pr.Report != nil {
		p.Report = pr.Report
	}
	return p
}

func jsonTableOf(s check.TableStats) jsonTable {
	t := jsonTable{
		Table: s.Table.Name, Items: s.Items, Bytes: s.Bytes, Partitions: s.Partitions, Entities: []jsonEntity{},
		DeclaredItems: s.DeclaredItems, DeclaredBytes: s.DeclaredBytes,
		MostItems: jsonHottestOf(s.ByItems), MostBytes: jsonHottestOf(s.ByBytes), MostReads: jsonHottestOf(s.ByReads),
		MostWrites: jsonHottestOf(s.ByWrites),
	}
	if s.Index != nil {
		t.Index = s.Index.Name
	}
	for _, e := range s.Entities {
		t.Entities = append(t.Entities, jsonEntity(e))
	}
	return t
}

func jsonHottestOf(p *check.Partition) *jsonHottest {
	if p == nil {
		return nil
	}
	h := &jsonHottest{
		Items: p.Items, Bytes: p.Bytes, DeclaredItems: p.DeclaredItems, DeclaredBytes: p.DeclaredBytes, Reads: p.Reads,
		Writes: p.Writes,
	}
	for _, v := range p.Key {
		h.Partition = append(h.Partition, v.AppendJSON(nil))
	}
	return h
}

func jsonPlaceOf(pos model.Pos) *jsonPlace {
	if pos.Line == 0 && pos.File == "" {
		return nil
	}
	return &jsonPlace{File: pos.File, Line: pos.Line, Column: pos.Col}
}

func jsonFindings(all []model.Finding) []jsonFinding {
	out := make([]jsonFinding, len(all))
	for i, f := range all {
		keys := f.Keys
		if keys == nil {
			keys = []string{}
		}
		out[i] = jsonFinding{
			Rule: f.Rule, Severity: f.Severity.String(), Place: jsonPlaceOf(f.Pos), Table: f.Table, Index: f.Index,
			Entity:  f.Entity,
			Pattern: f.Pattern, Message: f.Message, Keys: keys, Advice: f.Advice, Accepted: f.Accepted,
		}
	}
	return out
}
