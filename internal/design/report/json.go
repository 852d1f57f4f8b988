package report

import (
	"encoding/json"
	"io"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
)

// The members of the JSON form. They never change; new ones may be added. Those
// of spreads and partitions are the tags of package design/check.

type jsonResult struct {
	Model    jsonModel     `json:"model"`
	OK       bool          `json:"ok"` // no finding is an error
	Items    int           `json:"items"`
	Scale    float64       `json:"scale"` // share of the declared items that were generated
	Summary  jsonSummary   `json:"summary"`
	Patterns []jsonPattern `json:"patterns"`
	Tables   []jsonTable   `json:"tables"`
	// Looked says how many items of running tables were looked at.
	Looked   []jsonLooked  `json:"looked,omitempty"`
	Findings []jsonFinding `json:"findings"`
	Bill     *bill.Bill    `json:"bill,omitempty"`
}

type jsonLooked struct {
	Table string `json:"table"`
	Items int    `json:"items"`
	All   bool   `json:"all"` // the table has no more
}

type jsonModel struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	File  string `json:"file,omitempty"`
}

type jsonSummary struct {
	Patterns   int `json:"patterns"`
	Ran        int `json:"ran"`
	Expecting  int `json:"expecting"`  // those that ran and have expectations
	AsExpected int `json:"asExpected"` // those that meet them
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Notes      int `json:"notes"`
}

// A jsonPlace has the fields of [model.Pos], so it can be converted.
type jsonPlace struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"column,omitempty"`
}

type jsonPattern struct {
	Name      string          `json:"name"`
	About     string          `json:"about,omitempty"`
	Place     jsonPlace       `json:"place,omitzero"`
	OK        bool            `json:"ok"`
	Expecting bool            `json:"expecting"` // it ran, and has expectations
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
	Growth float64      `json:"growth"`
	Spread *load.Spread `json:"spread,omitempty"`
	// Writes is what a pattern that writes costs.
	Writes *jsonWrites `json:"writes,omitempty"`
	// Requests is the number of requests, if there are several; Report is about the first.
	Requests int `json:"requests,omitempty"`
	// Batch is what is read by the values of the rows.
	Batch *jsonBatch `json:"batch,omitempty"`
	// Report is what sortkey explain --json prints.
	Report   *explain.Report `json:"report,omitempty"`
	Failures []jsonFinding   `json:"failures"`
	// Skipped says why the pattern was not run.
	Skipped string `json:"skipped,omitempty"`
}

type jsonWrites struct {
	Items  int              `json:"items"` // that were written
	P50    float64          `json:"p50"`   // write units
	P95    float64          `json:"p95"`
	Worst  float64          `json:"worst"`
	Mean   float64          `json:"mean"`
	Spaces []jsonWriteSpace `json:"spaces"`
	// Move is about a move, whose items are the values that can be moved.
	Move *jsonMove `json:"move,omitempty"`
}

type jsonMove struct {
	Entity string    `json:"entity"`
	Field  string    `json:"field"`
	Items  float64   `json:"items"` // rewritten, on average
	P50    jsonMoved `json:"p50"`
	P95    jsonMoved `json:"p95"`
	Worst  jsonMoved `json:"worst"`
	// Generated says that there are generated paths, which hardly share folders.
	Generated bool `json:"generated,omitempty"`
}

// A jsonMoved has the cost of moving one value.
type jsonMoved struct {
	Value        string  `json:"value"`
	Items        float64 `json:"items"`
	Actions      float64 `json:"actions"`
	Transactions float64 `json:"transactions"` // at least, one after the other
	Units        float64 `json:"units"`
}

func jsonMovedOf(m *load.Moved) jsonMoved {
	return jsonMoved{m.Name, m.Items, m.Actions, m.Transactions, m.Units}
}

type jsonWriteSpace struct {
	Table string  `json:"table"`
	Index string  `json:"index,omitempty"`
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
}

func jsonWritesOf(c *load.Cost) *jsonWrites {
	w := &jsonWrites{Items: c.Items, P50: c.P50, P95: c.P95, Worst: c.Worst, Mean: c.Mean(), Spaces: []jsonWriteSpace{}}
	for _, s := range c.Spaces {
		one := jsonWriteSpace{Table: s.Table.Name, Mean: s.Mean, Worst: s.Worst}
		if s.Index != nil {
			one.Index = s.Index.Name
		}
		w.Spaces = append(w.Spaces, one)
	}
	if m := c.Move; m != nil {
		w.Move = &jsonMove{
			Entity: m.Entity.Name, Field: m.Field.Name, Items: m.MeanItems, P50: jsonMovedOf(&m.P50),
			P95: jsonMovedOf(&m.P95), Worst: jsonMovedOf(&m.Worst), Generated: m.Generated,
		}
	}
	return w
}

type jsonBatch struct {
	Entity   string  `json:"entity"`
	Requests int     `json:"requests"`
	Keys     int     `json:"keys"`
	Items    int     `json:"items"`
	Bytes    int     `json:"bytes"`
	Units    float64 `json:"units"`
}

type jsonRefusal struct {
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

type jsonTable struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"`
	check.TableStats
}

type jsonFinding struct {
	Rule     string    `json:"rule"`
	Severity string    `json:"severity"` // error, warning or note
	Place    jsonPlace `json:"place,omitzero"`
	Table    string    `json:"table,omitempty"`
	Index    string    `json:"index,omitempty"`
	Entity   string    `json:"entity,omitempty"`
	Pattern  string    `json:"pattern,omitempty"`
	Message  string    `json:"message"`
	Keys     []string  `json:"keys"`
	Advice   string    `json:"advice,omitempty"`
	// Accepted is the reason why the model accepts the finding.
	Accepted string `json:"accepted,omitempty"`
}

// JSON writes a result for programs: one object with the members model, ok,
// items, scale, summary, patterns, tables and findings, and with a bill also bill. Members never change
// their names; new ones may be added. Keys and items are in DynamoDB JSON.
func JSON(out io.Writer, r *check.Result, b *bill.Bill) error {
	o := r.Outcome()
	j := jsonResult{
		Model: jsonModel{Name: r.Model.Name, About: r.Model.About, File: r.Model.Pos.File},
		OK:    !r.Failed(model.Error), Items: r.Items, Scale: r.Scale,
		Summary: jsonSummary{
			Patterns: len(r.Patterns), Ran: o.Ran, Expecting: o.Expecting, AsExpected: o.Met,
			Errors: r.Count(model.Error), Warnings: r.Count(model.Warning),
			Notes: r.Count(model.Note),
		},
		Patterns: []jsonPattern{}, Tables: []jsonTable{}, Findings: jsonFindings(r.Findings), Bill: b,
	}
	for i := range r.Patterns {
		pr := &r.Patterns[i]
		j.Patterns = append(j.Patterns, jsonPatternOf(pr))
	}

	for _, l := range r.Looked {
		j.Looked = append(j.Looked, jsonLooked{l.Table.Name, l.Items, l.All})
	}
	for _, s := range r.Tables {
		t := jsonTable{Table: s.Table.Name, TableStats: s}
		if s.Index != nil {
			t.Index = s.Index.Name
		}
		j.Tables = append(j.Tables, t)
	}
	return encode(out, j)
}

// encode writes v as indented JSON without escaping <, > and &.
func encode(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func jsonPatternOf(pr *check.PatternResult) jsonPattern {
	p := jsonPattern{
		Name: pr.Pattern.Name, About: pr.Pattern.About, Place: jsonPlace(pr.Pattern.Pos), OK: pr.OK(),
		Expecting: pr.Expecting(),
		Operation: pr.Pattern.Operation, Request: pr.Request(), Units: pr.Units(), Waste: pr.Waste(),
		Rate: pr.Pattern.Rate, Growth: pr.Growth, Spread: pr.Spread, Report: pr.Report,
		Failures: jsonFindings(pr.Failures), Skipped: pr.Skipped,
	}
	if pr.Writes != nil {
		p.Writes = jsonWritesOf(pr.Writes)
	}
	if pr.Requests > 1 {
		p.Requests = pr.Requests
	}
	if b := pr.Batch; b != nil {
		p.Batch = &jsonBatch{pr.Pattern.Then.Name, b.Requests, b.Keys, b.Items, b.Bytes, pr.BatchUnits()}
	}
	if pr.Compile != nil {
		p.NotARange = &jsonRefusal{Message: pr.Compile.Msg, Advice: pr.Compile.Advice}
	}
	return p
}

func jsonFindings(all []model.Finding) []jsonFinding {
	out := make([]jsonFinding, len(all))
	for i, f := range all {
		out[i] = jsonFinding{
			Rule: f.Rule, Severity: f.Severity.String(), Place: jsonPlace(f.Pos), Table: f.Table, Index: f.Index,
			Entity: f.Entity, Pattern: f.Pattern, Message: f.Message, Keys: append([]string{}, f.Keys...),
			Advice: f.Advice, Accepted: f.Accepted,
		}
	}
	return out
}
