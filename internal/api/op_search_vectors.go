package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Sources of this file: DG/VectorSearchWorkingWith.html, API_SearchVectors, and
// dynoxide's captures of 2026-08-11 to 2026-10-23 in eu-west-2 and us-east-1.

// maxTopK is the maximum number of results. Source: DG/ServiceQuotas.html.
const maxTopK = 100

// searchCondition names the condition of a search in messages about expressions.
const searchCondition expr.Param = "SearchConditionExpression"

// searchVectors returns the items of a vector index that are nearest to a vector. It compares the vector with all
// items, so its cost grows with the index.
func (s *Service) searchVectors(ctx context.Context, in *wire.SearchVectorsInput) (*wire.SearchVectorsOutput, error) {
	const op = wire.OpSearchVectors
	if *in.TopK > maxTopK {
		return nil, op.Invalid(fmt.Sprintf("Provided TopK value '%d' is out of valid range. "+
			"The value must be between 1 and %d inclusive", *in.TopK, maxTopK))
	}
	vector := make([]float32, len(in.SearchVector))
	for i, v := range in.SearchVector {
		ok := v.Kind() == attr.Number
		if ok {
			vector[i], ok = table.Float(v)
		}
		if !ok {
			return nil, op.Invalid("Search vector contains invalid values. All values in the search vector must be a " +
				"32-bit floating-point number attribute")
		}
	}

	if err := op.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	r := readParams{
		expressions: expressions{op: op, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		projected:   in.ProjectionExpression,
	}
	if err := cmp.Or(checkPlaceholders(in), r.open()); err != nil {
		return nil, err
	}

	cond, err := r.condition(searchCondition, in.SearchConditionExpression)
	if err != nil {
		return nil, err
	}
	equal, err := equalities(cond)
	if err != nil {
		return nil, err
	}
	if err := r.parse(nil); err != nil {
		return nil, err
	}

	out := new(wire.SearchVectorsOutput)
	err = s.db.View(ctx, func(view *table.View) error {
		t, err := s.lookup(view.Table, in.TableName)
		if err != nil {
			return err
		}
		ix, err := view.VectorIndex(t, *in.IndexName)
		if err != nil {
			return err
		}
		if err := checkSearch(t.Definition(), ix.Definition().Vector, len(vector), equal); err != nil {
			return err
		}

		found, bytes, err := view.Search(
			&table.Search{Table: t, Index: ix, Vector: vector, Equal: equal, Limit: int(*in.TopK)},
		)
		if err != nil {
			return err
		}
		var a answer
		if out.SearchResults, err = r.results(ix, found, &a); err != nil {
			return err
		}
		if mode := value(in.ReturnConsumedCapacity); mode != "" && mode != "NONE" {
			out.ConsumedCapacity = &wire.VectorCapacity{VectorSearchRequestBytes: new(float64(bytes))}
		}
		return a.reserve(ctx)
	})

	return out, err
}

// checkPlaceholders returns an error for names and values that no expression can use. The service reports this error
// before other errors of expressions.
func checkPlaceholders(in *wire.SearchVectorsInput) error {
	const op = wire.OpSearchVectors
	names, values := in.ExpressionAttributeNames, in.ExpressionAttributeValues
	switch {
	case names != nil && len(names) == 0:
		return op.Invalid("ExpressionAttributeNames must not be empty")
	case values != nil && values.Len() == 0:
		return op.Invalid("ExpressionAttributeValues must not be empty")
	case names != nil && in.SearchConditionExpression == nil && in.ProjectionExpression == nil:
		return op.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	case values != nil && in.SearchConditionExpression == nil:
		return op.Invalid("ExpressionAttributeValues can only be specified when using expressions")
	}
	return nil
}

// equalities returns the attribute values that the condition of a search requires. The condition may only consist of
// comparisons with =, joined by AND.
func equalities(cond *expr.Condition) (attr.Item, error) {
	if cond == nil {
		return nil, nil
	}
	wrong := func(text string) error {
		return wire.OpSearchVectors.Invalid("Invalid SearchConditionExpression: " + text)
	}
	var b attr.Builder
	var nested, twice bool
	var walk func(ast.Node) error
	walk = func(n ast.Node) error {
		if and, ok := n.(*ast.And); ok {
			if err := walk(and.L); err != nil {
				return err
			}
			return walk(and.R)
		}

		c, ok := n.(*ast.Compare)
		if !ok || c.Op != ast.Equal {
			return wrong("Invalid comparator used in SearchConditionExpression")
		}
		l, r := c.L, c.R
		if _, ok := l.(*ast.ValueOperand); ok {
			l, r = r, l
		}
		path, isPath := l.(*ast.PathOperand)
		v, isValue := r.(*ast.ValueOperand)
		if !isPath || !isValue {
			return wrong("Invalid comparator used in SearchConditionExpression")
		}
		nested = nested || len(path.Path) > 1
		if name := path.Path[0].Name; b.Item().Get(name).IsZero() {
			b.Add(name, v.Value)
		} else {
			twice = true
		}
		return nil
	}

	if err := walk(expr.Node(cond)); err != nil {
		return nil, err
	}
	switch {
	case nested:
		return nil, wrong("SearchConditionExpression cannot have conditions on nested attributes")
	case twice:
		return nil, wrong("SearchConditionExpression must only contain one condition per attribute")
	}
	return b.Item(), nil
}

// checkSearch returns an error if the vector does not have as many dimensions as the index, or if the condition does
// not match the search schema of the index.
func checkSearch(def *table.Definition, v *table.Vector, dimensions int, equal attr.Item) error {
	if int64(dimensions) != v.Dimensions {
		return wire.Validation(fmt.Sprintf("Input search vector dimension %d does not match vector index dimension %d",
			dimensions, v.Dimensions))
	}
	for name := range equal.All() {
		if !slices.ContainsFunc(v.Schema, func(e table.KeyElement) bool { return e.Name == string(name) }) {
			return wire.Validation("SearchConditionExpression must not contain any attributes that is not in " +
				"SearchSchema. Invalid attribute: " + string(name))
		}
	}

	for _, e := range v.Schema {
		if !e.Hash {
			continue
		}
		have := equal.Get(e.Name)
		want := attributeOf(def.Attributes, e.Name).Kind
		switch {
		case have.IsZero():
			return wire.Validation("SearchConditionExpression must be provided when SearchSchema has a HASH key")
		case have.Kind() != want:
			return wire.Validation(fmt.Sprintf("Type of '%s' attribute in SearchConditionExpression (%v) does not "+
				"match type in search schema (%v)", e.Name, have.Kind(), want))
		case have.Kind() == attr.String && len(have.Raw()) == 0:
			return wire.Validation("One or more parameter values are not valid. The AttributeValue for a key " +
				"attribute cannot contain an empty string value. Key: " + e.Name)
		}
	}

	return nil
}

// msgSearchJSON is the message if the JSON of the results exceeds [maxAnswer]. The text is Sortkey's own.
const msgSearchJSON = "The search results cannot exceed 33554432 bytes of JSON; " +
	"give a smaller TopK or a ProjectionExpression"

// results returns the items that a search found, after the projection. An item has its vector only if the projection
// names the vector attribute.
func (r *readParams) results(ix *table.Index, found []table.Match, a *answer) ([]wire.SearchResultItem, error) {
	out := make([]wire.SearchResultItem, 0, len(found))
	for _, m := range found {
		it, err := ix.Matched(m.Item, r.projection != nil)
		if err != nil {
			return nil, err
		}
		if it = r.project(it); !a.fits(it) {
			return nil, wire.OpSearchVectors.Invalid(msgSearchJSON)
		}
		out = append(out, wire.SearchResultItem{Item: slices.Clone(it), Score: new(m.Score)})
	}
	return out, nil
}

func vectorOf(x *wire.VectorIndex) table.IndexDefinition {
	ix := table.IndexDefinition{Name: value(x.IndexName), Projection: projectionOf(x.Projection)}
	v := &table.Vector{Dimensions: value(x.Dimensions), Function: value(x.DistanceFunction)}
	if x.VectorAttribute != nil {
		v.Attribute = value(x.VectorAttribute.AttributeName)
	}
	for _, e := range x.SearchSchema {
		v.Schema = append(
			v.Schema, table.KeyElement{Name: value(e.AttributeName), Hash: value(e.SearchSchemaElementType) == "HASH"},
		)
	}
	ix.SetVector(v)
	return ix
}
