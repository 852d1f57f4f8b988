package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// Rule is the rule ID of findings about unmet expectations.
const Rule = "expectation"

// Options configure [Run]. The zero value is ready to use.
type Options struct {
	// Run calls Progress with the name of each pattern before it runs the pattern. When only Lint is left, Run calls
	// it with "". Progress may be nil.
	Progress func(pattern string)
	// Lint returns findings about hazards, which Run adds to Findings. It gets the results of all patterns. Lint may be
	// nil.
	Lint func(context.Context, *dataset.Dataset, []PatternResult) ([]model.Finding, error)
}

// A Result is the result of a check.
type Result struct {
	Model *model.Model `json:"-"`
	// Items is the number of items in the dataset. Scale is the fraction of the declared items that were generated.
	// Bytes is true if the limit on the total size of items kept Scale below 1.
	Items    int             `json:"items"`
	Scale    float64         `json:"scale"`
	Bytes    bool            `json:"-"`
	Patterns []PatternResult `json:"-"`
	// Findings are the findings of patterns and lint rules. Errors come first; findings of one severity are in the
	// order of the file.
	Findings []model.Finding `json:"-"`
	Tables   []TableStats    `json:"tables"`
	// Looked counts the items that [Running] read of each table.
	Looked []Looked `json:"looked,omitempty"`
}

// A PatternResult is the result of one access pattern.
type PatternResult struct {
	Pattern *model.Pattern `json:"-"`
	// Input is the request. If the pattern does not compile to one range, Input is nil and Compile says why.
	Input   wire.Request   `json:"-"`
	Compile *compile.Error `json:"notARange,omitempty"`
	// Report describes what the request read. It is nil if nothing was read.
	Report *explain.Report `json:"report,omitempty"`
	// Requests is the number of requests that the pattern sends, for example one for each shard. Input and Report
	// belong to the first of them. Total is the sum of their reports.
	Requests int             `json:"-"`
	Total    *explain.Report `json:"-"`
	// Batch describes the follow-up reads: the items that the pattern gets by key after it has read the rows. It is
	// nil if the pattern gets none.
	Batch *explain.Batch `json:"-"`
	// Writes is the cost of a pattern that writes. It is nil for a pattern that reads.
	Writes *load.Cost `json:"writes,omitempty"`
	// Growth is the average number of rows at the declared scale for each row
	// that the request examined. It is 1 if all declared items were generated,
	// or if a Limit bounds the rows.
	Growth float64 `json:"growth"`
	// Spread describes what the pattern reads for other values. It is nil if the pattern cannot be given other
	// values.
	Spread *load.Spread `json:"spread,omitempty"`
	// Skipped says why the pattern was not run; "" if it was.
	Skipped string `json:"skipped,omitempty"`
	// Failures are findings about unmet expectations.
	Failures []model.Finding `json:"-"`

	// Cut is the number of pages after which the check stopped reading, or 0 if it read all pages.
	Cut int `json:"-"`
	// Varied are the fields whose values differ between the pattern's requests.
	Varied []string `json:"-"`

	reads   *load.Reads // or nil
	nothing bool        // the pattern fails because it returned no rows
	lost    int         // number of rows that lack a value for the key of the item to get
	sampled bool        // the dataset has a sample of the items, so an item to get may be among the others
	nearest string      // if the request finds nothing, the most similar key in the dataset
}

// Request returns the request as JSON, or nil if the pattern does not compile.
func (p *PatternResult) Request() json.RawMessage {
	if p.Input == nil {
		return nil
	}
	return compile.JSON(p.Input)
}

// FoundNothing reports whether the pattern fails only because it returned no rows and does not expect that.
func (p *PatternResult) FoundNothing() bool { return p.nothing }

// OK reports whether the pattern meets its expectations.
func (p *PatternResult) OK() bool { return len(p.Failures) == 0 }

// Units returns the units that the pattern consumes with the values in the model. For a read, these are the read
// units of all pages of all requests; for a write, write units.
func (p *PatternResult) Units() float64 {
	switch {
	case p.Writes != nil:
		return p.Writes.First
	case p.Report == nil:
		return 0
	}
	return p.Total.Units(p.Pattern.Consistent) + p.BatchUnits()
}

// MeanUnits returns the average units of the pattern at the declared scale. For a read, it averages over all values
// that the pattern can be given (see [load.Spread]). For a write, it averages over all items that the check tried.
func (p *PatternResult) MeanUnits() float64 {
	switch {
	case p.Writes != nil:
		return p.Writes.Mean()
	case p.reads != nil && p.reads.Requests > 0:
		return p.reads.MeanUnits
	case p.Total == nil:
		return p.Units()
	}
	return p.Own().DeclaredUnits()
}

// Own returns what the pattern's requests read with the values in the model. Total must not be nil.
func (p *PatternResult) Own() *load.Reading {
	t := p.Total
	growth := 1.0
	if p.reads != nil {
		growth = p.reads.BatchGrowth
	}
	return &load.Reading{
		Rows: t.Returned, Examined: t.Examined, Bytes: t.Bytes + t.Fetched, Pages: t.Pages,
		Units: p.Units(), Waste: t.Waste(), Growth: p.Growth, Requests: p.Requests,
		Batch: p.BatchUnits(), DeclaredBatch: p.BatchUnits() * growth,
	}
}

// Uncounted returns the entity whose missing count keeps the check from estimating the load of partitions. It returns
// nil if all counts are known.
func (p *PatternResult) Uncounted() *model.Entity {
	if p.reads == nil {
		return nil
	}
	return p.reads.Uncounted
}

// BatchUnits returns the read units that the pattern's follow-up reads consume to get the items of Batch.
func (p *PatternResult) BatchUnits() float64 {
	switch {
	case p.Batch == nil:
		return 0
	case p.Pattern.Consistent:
		return p.Batch.Strong
	}
	return p.Batch.Eventual
}

// Waste returns the fraction of the bytes read that the pattern does not return.
func (p *PatternResult) Waste() float64 {
	if p.Report == nil {
		return 0
	}
	return p.Total.Waste()
}

// Count returns the number of findings of a severity.
func (r *Result) Count(s model.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Failed reports whether any finding is at least as severe as s.
func (r *Result) Failed(s model.Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Severity >= s })
}

// Run runs every access pattern of a dataset and compares the result with its expectations. A pattern that fails is
// part of the Result, not an error. Run returns an error if ctx is done, Lint fails or the dataset cannot be read.
func Run(ctx context.Context, w *dataset.Dataset, o Options) (*Result, error) {
	r := &Result{Model: w.Model, Items: len(w.Items), Scale: w.Scale, Bytes: w.Bytes}
	target := w.Target()
	progress := func(pattern string) {
		if o.Progress != nil {
			o.Progress(pattern)
		}
	}

	var err error
	if r.Patterns, err = runPatterns(ctx, w, target, progress); err != nil {
		return nil, err
	}
	if r.Tables, err = Stats(ctx, w); err != nil {
		return nil, err
	}
	progress("")
	var hazards []model.Finding
	if o.Lint != nil {
		if hazards, err = o.Lint(ctx, w, r.Patterns); err != nil {
			return nil, err
		}
	}

	for i := range r.Patterns {
		r.Findings = append(r.Findings, r.Patterns[i].Failures...)
	}
	r.Findings = append(r.Findings, hazards...)
	slices.SortStableFunc(r.Findings, func(a, b model.Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col),
		)
	})
	return r, nil
}

// runPatterns runs the patterns of a dataset, at most GOMAXPROCS at once.
func runPatterns(
	ctx context.Context, w *dataset.Dataset, target explain.Target, progress func(string),
) ([]PatternResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var running caughtPanic
	results := make([]PatternResult, len(w.Model.Patterns))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, p := range w.Model.Patterns {
		slots <- struct{}{}
		progress(p.Name)
		wg.Go(func() {
			defer func() { <-slots }()
			running.run(func() {
				var err error
				if results[i], err = runPattern(ctx, w, target, p); err != nil {
					cancel(err)
				}
			})
		})
	}
	wg.Wait()
	running.raise()
	return results, context.Cause(ctx)
}

// Through runs one access pattern on a target that has the items of the model, and judges the result. Unlike [Run],
// it does not estimate other partitions. It returns an error if the request cannot be run.
func Through(
	ctx context.Context, target explain.Target, m *model.Model, p *model.Pattern, o explain.Options,
) (PatternResult, error) {
	return through(ctx, target, m, p, func(in wire.Request) (*explain.Report, error) {
		if p.Then != nil {
			o.Items = max(o.Items, mostThen)
		}
		return explain.Run(ctx, target, explain.Question{Input: in, Text: compile.JSON(in)}, o)
	})
}

// through does the work of Through with any function that runs a request.
func through(
	ctx context.Context, target explain.Target, m *model.Model, p *model.Pattern,
	run func(wire.Request) (*explain.Report, error),
) (PatternResult, error) {
	pr := PatternResult{Pattern: p, Growth: 1}
	if p.IsWrite() {
		return pr, nil // skip writes: only Run has a copy of the database on which to try them
	}
	if parts := pr.split(); pr.Compile == nil {
		if err := pr.read(parts, run); err != nil {
			return pr, err
		}
	}
	if pr.Total != nil {
		if err := pr.then(ctx, target, m); err != nil {
			return pr, err
		}
	}
	pr.judge()
	return pr, nil
}

// Explain runs a request that is not an access pattern, such as one that a person types. The request has no
// expectations, so the result says only what it reads.
func Explain(
	ctx context.Context, target explain.Target, q explain.Question, o explain.Options,
) (pr PatternResult, err error) {
	pr = PatternResult{Pattern: &model.Pattern{Name: "the request"}, Growth: 1, Requests: 1, Input: q.Input}
	if pr.Report, err = explain.Run(ctx, target, q, o); err != nil {
		return pr, err
	}
	pr.Total, pr.Pattern.Operation = pr.Report, pr.Report.Operation
	return pr, nil
}

// split returns a copy of the pattern for each of its requests. If the pattern cannot be split, split sets Compile.
func (p *PatternResult) split() []*model.Pattern {
	parts, err := compile.Split(p.Pattern)
	if err != nil {
		p.Compile, _ = errors.AsType[*compile.Error](err)
	}
	return parts
}

// read runs the request of each part and adds up their reports in Total.
func (p *PatternResult) read(parts []*model.Pattern, run func(wire.Request) (*explain.Report, error)) error {
	var reports []*explain.Report
	for i, part := range parts {
		in, err := compile.Pattern(part)
		if err != nil {
			p.Input, p.Report = nil, nil
			p.Compile, _ = errors.AsType[*compile.Error](err)
			return nil
		}
		report, err := run(in)
		if err != nil {
			return err
		}
		if i == 0 {
			p.Input, p.Report = in, report
		}
		reports = append(reports, report)
	}

	p.Requests, p.Total = len(parts), explain.Sum(reports)
	for i, w := range p.Pattern.Where {
		if last := parts[len(parts)-1]; !slices.Equal(parts[0].Where[i].Args, last.Where[i].Args) {
			p.Varied = append(p.Varied, w.Field)
		}
	}

	if p.Total.Refused != nil {
		p.Report = p.Total
	}
	return nil
}

func runPattern(
	ctx context.Context, w *dataset.Dataset, target explain.Target, p *model.Pattern,
) (PatternResult, error) {
	if err := context.Cause(ctx); err != nil {
		return PatternResult{Pattern: p, Growth: 1}, err
	}
	if p.IsWrite() {
		return runWrite(ctx, w, p)
	}

	items := 0 // the maximum number of items that the report keeps
	if len(p.Expect.Keys) > 500 {
		items = 2 * len(p.Expect.Keys)
	}
	if p.Then != nil {
		items = max(items, mostThen)
	}
	table := load.TableOf(w)
	pr, err := through(ctx, target, w.Model, p, func(in wire.Request) (*explain.Report, error) {
		return table.Run(ctx, in, items)
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return pr, cause
		}
		pr.Failures = append(pr.Failures, model.Finding{
			Rule: Rule, Severity: model.Error, Pos: p.Pos, Pattern: p.Name,
			Message: "cannot run the request: " + err.Error(),
		})
		return pr, nil
	}

	if pr.Total == nil {
		return pr, nil
	}
	if pr.reads, err = load.TableOf(w).Reads(ctx, p); err != nil {
		return pr, err
	}
	pr.Growth, pr.Spread, pr.sampled = pr.reads.Growth, pr.reads.Spread, w.Scale < 1

	if pr.Total.Returned == 0 {
		if pr.nearest, err = nearest(ctx, w, p, pr.Report); err != nil {
			return pr, err
		}
	}

	pr.judge()
	return pr, nil
}
