package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A patternPage is a shape of requests as an access pattern of a model file.
type patternPage struct {
	Shape
	YAML string // "" if there is none
	Note string // why there is none
}

func (s *Server) pattern(r *http.Request) (string, any, error) {
	if s.opts.Requests == nil {
		return "", nil, errUnseen
	}
	n, _ := strconv.Atoi(r.FormValue("shape"))
	shape, ok := s.opts.Requests.shapeOf(n)
	if !ok {
		return "", nil, bad("there is no shape %s: load the page of requests again", text.Quote(r.FormValue("shape")))
	}
	shape.Mark = markOf(shape.Operation, shape.scanned, shape.Examined, shape.Returned)
	shapes := []Shape{shape}
	s.advise(r.Context(), shapes)
	shape = shapes[0]
	p := &patternPage{Shape: shape}
	var err error
	if p.YAML, err = s.patternText(r.Context(), &shape); err != nil {
		p.Note = err.Error()
	}
	return "pattern", p, nil
}

// errNoPattern is the reason why writes are no patterns here.
var errNoPattern = errors.New("a pattern that writes names an entity, and reads of several keys are gets: " +
	"make a model of the tables with sortkey design import --from, and add it there")

// patternText returns the access pattern of a shape, as it stands in a model file.
func (s *Server) patternText(ctx context.Context, shape *Shape) (string, error) {
	if shape.body == nil {
		return "", errors.New("no request of this shape was kept: they are too long, or were refused")
	}

	q, err := explain.Parse(shape.Operation, shape.body)
	if _, other := errors.AsType[*explain.OperationError](err); other {
		return "", errNoPattern
	}
	if err != nil {
		return "", err
	}

	in, err := s.readOf(ctx, q)
	if err != nil {
		return "", err
	}
	m, p, err := s.patternOf(ctx, in)
	if err != nil {
		return "", err
	}

	p.Name = patternName(shape)
	if rate := shape.Rate(); rate > 0 {
		digits := math.Pow(10, math.Floor(math.Log10(rate))-1)
		p.Rate = max(math.Round(rate/digits)*digits, 0.01)
	}

	m.Patterns = []*model.Pattern{p}
	var b bytes.Buffer
	if err := modelfile.Write(&b, m); err != nil {
		return "", err
	}

	_, list, ok := strings.Cut(b.String(), "\npatterns:\n")
	if !ok {
		return "", errors.New("the model file has no patterns")
	}
	return "patterns:\n" + list, nil
}

// errNoWords is the reason why a request is no pattern.
var errNoWords = errors.New("a model file has no words for a part of the request, such as its start, its " +
	"projection or a binary value: write the pattern by hand")

// patternOf returns a model with the table of a request, and the request as a pattern.
func (s *Server) patternOf(ctx context.Context, in wire.Request) (*model.Model, *model.Pattern, error) {
	name, index := placeOf(in)
	t, err := explain.Describe(ctx, s.opts.Target, name)
	if err != nil {
		return nil, nil, err
	}
	if t.Schema(index) == nil {
		return nil, nil, fmt.Errorf("table %s has no index %s any more", name, index)
	}
	m := &model.Model{Name: "console", Tables: []*model.Table{tableOf(t)}}
	p := &model.Pattern{Operation: in.Op().String(), Table: m.Tables[0], Index: m.Tables[0].Index(index)}
	if !fill(p, in) {
		return nil, nil, errNoWords
	}
	made, err := compile.Pattern(m, p)
	if err != nil || !slices.Equal(meaning(made), meaning(in)) {
		return nil, nil, errNoWords
	}
	return m, p, nil
}

// placeOf returns the table and the index of a request that reads.
func placeOf(in wire.Request) (table, index string) {
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	switch in := in.(type) {
	case *wire.QueryInput:
		return value(in.TableName), value(in.IndexName)
	case *wire.ScanInput:
		return value(in.TableName), value(in.IndexName)
	case *wire.GetItemInput:
		return value(in.TableName), ""
	}
	return "", ""
}

// fill gives a pattern the conditions and options of a request. It reports false if a pattern has no words
// for them.
func fill(p *model.Pattern, in wire.Request) bool {
	switch in := in.(type) {
	case *wire.QueryInput:
		if in.ExclusiveStartKey != nil || in.Select != nil || in.ProjectionExpression != nil || in.QueryFilter != nil {
			return false
		}
		p.Descending = in.ScanIndexForward != nil && !*in.ScanIndexForward
		p.Consistent = in.ConsistentRead != nil && *in.ConsistentRead
		if in.Limit != nil {
			p.Limit = int(*in.Limit)
		}
		if in.FilterExpression != nil {
			p.Filter = literal.Write(*in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
		}
		clauses, _ := explain.Clauses(in)
		for _, c := range clauses {
			if !add(p, c.Attribute, c.Op, c.Values) {
				return false
			}
		}
		return len(clauses) > 0
	case *wire.ScanInput:
		if in.ExclusiveStartKey != nil || in.Select != nil || in.ProjectionExpression != nil || in.ScanFilter != nil ||
			in.Segment != nil {
			return false
		}
		p.Consistent = in.ConsistentRead != nil && *in.ConsistentRead
		if in.Limit != nil {
			p.Limit = int(*in.Limit)
		}
		if in.FilterExpression != nil {
			p.Filter = literal.Write(*in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
		}
		return true
	case *wire.GetItemInput:
		if in.ProjectionExpression != nil || in.AttributesToGet != nil {
			return false
		}
		p.Consistent = in.ConsistentRead != nil && *in.ConsistentRead
		for name, v := range in.Key.All() {
			if !add(p, string(name), ast.Equal, []attr.Value{v}) {
				return false
			}
		}
		return true
	}
	return false
}

// add adds a condition on a key attribute to a pattern. It reports false for a value that is no text of a
// model file.
func add(p *model.Pattern, name string, op ast.Op, values []attr.Value) bool {
	c := model.Condition{Field: name, Op: op}
	for _, v := range values {
		raw := string(v.Raw())
		if v.Kind() == attr.Number {
			raw = text.Literal(v)
		}
		if v.Kind() != attr.Number && v.Kind() != attr.String || text.Visible(raw) != raw {
			return false
		}
		c.Args = append(c.Args, raw)
	}
	p.Where = append(p.Where, c)
	return true
}

// meaning returns what a request asks, so that two which ask the same have the same.
func meaning(in wire.Request) (all []string) {
	clauses, _ := explain.Clauses(in)
	for _, c := range clauses {
		all = append(all, c.String())
	}
	switch in := in.(type) {
	case *wire.GetItemInput:
		all = append(all, string(in.Key.AppendJSON(nil)))
	case *wire.QueryInput:
		rest := *in
		rest.KeyConditionExpression, rest.FilterExpression = nil, nil
		rest.ExpressionAttributeNames, rest.ExpressionAttributeValues, rest.ReturnConsumedCapacity = nil, nil, nil
		rest.ConsistentRead, rest.ScanIndexForward = yes(in.ConsistentRead, false), yes(in.ScanIndexForward, true)
		all = append(all, string(rest.AppendJSON(nil)))
		if in.FilterExpression != nil {
			filter := literal.Write(*in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
			for _, t := range lex.LexLiterals(nil, filter) {
				all = append(all, "filter "+t.Text(filter))
			}
		}
	}
	slices.SortFunc(all[:len(clauses)], strings.Compare)
	return all
}

// yes returns a flag with the value that it has if it is absent.
func yes(flag *bool, absent bool) *bool {
	if flag != nil {
		absent = *flag
	}
	return &absent
}

// tableOf returns a table as models have it.
func tableOf(t *keyschema.Table) *model.Table {
	out := &model.Table{Name: t.Name, Partition: t.Key.Partition(), Sort: t.Key.Sort()}
	for _, x := range t.Indexes {
		out.Indexes = append(out.Indexes, &model.Index{
			Name: x.Key.Name(), Local: x.Local, Partition: x.Key.Partition(), Sort: x.Key.Sort(),
			Projection: x.Projection, Include: x.Include,
		})
	}
	return out
}

// patternName names a shape.
func patternName(shape *Shape) string {
	name := shape.Operation + " of " + shape.Table
	if shape.Conditions != "" {
		name += " where " + shape.Conditions
	}
	return text.Visible(cut(name, 100))
}
