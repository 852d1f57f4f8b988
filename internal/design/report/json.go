package report

import (
	"encoding/json"
	"io"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
)

// The members of the JSON form never change; new ones may be added. Most come from the struct tags of [check.Result]
// and the types in it. The types below add the members that this package computes.

type jsonResult struct {
	Model jsonModel `json:"model"`
	OK    bool      `json:"ok"` // no finding is an error
	*check.Result
	Summary  jsonSummary     `json:"summary"`
	Patterns []jsonPattern   `json:"patterns"`
	Findings []model.Finding `json:"findings"`
	Bill     *bill.Bill      `json:"bill,omitempty"`
}

type jsonModel struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	File  string `json:"file,omitempty"`
}

type jsonSummary struct {
	Patterns int `json:"patterns"`
	check.Outcome
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
}

type jsonPattern struct {
	Name      string          `json:"name"`
	About     string          `json:"about,omitempty"`
	Place     model.Pos       `json:"place,omitzero"`
	OK        bool            `json:"ok"`
	Expecting bool            `json:"expecting"` // the pattern ran and has expectations
	Operation string          `json:"operation,omitempty"`
	Request   json.RawMessage `json:"request,omitempty"`
	// Units are the units that the pattern consumes. Waste is the fraction of the bytes read that are not returned.
	Units float64 `json:"units"`
	Waste float64 `json:"waste"`
	Rate  float64 `json:"rate,omitempty"`
	// Requests is the number of requests that the pattern sends, if there are several. The report is about the first.
	Requests int `json:"requests,omitempty"`
	// Batch describes the BatchGetItem requests with which the pattern gets an item for each row after its query.
	Batch *jsonBatch `json:"batch,omitempty"`
	*check.PatternResult
	Failures []model.Finding `json:"failures"`
}

type jsonBatch struct {
	Entity   *model.Entity `json:"entity"`
	Requests int           `json:"requests"`
	Keys     int           `json:"keys"`
	Items    int           `json:"items"`
	Bytes    int           `json:"bytes"`
	Units    float64       `json:"units"`
}

// JSON writes a result as JSON for programs, with a bill unless b is nil. Keys and items are in DynamoDB JSON.
func JSON(out io.Writer, r *check.Result, b *bill.Bill) error {
	j := jsonResult{
		Model: jsonModel{Name: r.Model.Name, About: r.Model.About, File: r.Model.Pos.File},
		OK:    !r.Failed(model.Error), Result: r,
		Summary: jsonSummary{
			Patterns: len(r.Patterns), Outcome: r.Outcome(),
			Errors: r.Count(model.Error), Warnings: r.Count(model.Warning), Notes: r.Count(model.Note),
		},
		Patterns: []jsonPattern{}, Findings: jsonFindings(r.Findings), Bill: b,
	}
	for i := range r.Patterns {
		j.Patterns = append(j.Patterns, jsonPatternOf(&r.Patterns[i]))
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(j)
}

func jsonPatternOf(pr *check.PatternResult) jsonPattern {
	p := jsonPattern{
		Name: pr.Pattern.Name, About: pr.Pattern.About, Place: pr.Pattern.Pos, OK: pr.OK(), Expecting: pr.Expecting(),
		Operation: pr.Pattern.Operation, Request: pr.Request(), Units: pr.Units(), Waste: pr.Waste(),
		Rate: pr.Pattern.Rate, PatternResult: pr, Failures: jsonFindings(pr.Failures),
	}
	if pr.Requests > 1 {
		p.Requests = pr.Requests
	}
	if b := pr.Batch; b != nil {
		p.Batch = &jsonBatch{pr.Pattern.Then, b.Requests, b.Keys, b.Items, b.Bytes, pr.BatchUnits()}
	}
	return p
}

// jsonFindings returns a copy of findings in which an empty list of keys is not nil, so that JSON has [] instead of
// null.
func jsonFindings(all []model.Finding) []model.Finding {
	out := make([]model.Finding, len(all))
	for i, f := range all {
		f.Keys = append([]string{}, f.Keys...)
		out[i] = f
	}
	return out
}
