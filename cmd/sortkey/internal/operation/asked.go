package operation

import (
	"context"
	"errors"
	"strconv"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
)

// A Space is a table or an index that a page offers for queries.
type Space struct{ Table, Index string }

// Asked returns the request that a person has entered in the query box of a page. If the field "request" of the box
// has text, the text is the whole request. Otherwise the field "space" is the number of an element of spaces, from 1,
// and the other fields describe a query of that table or index.
func Asked(
	ctx context.Context, target explain.Target, field func(name string) string, spaces []Space,
) (q explain.Question, err error) {
	if typed := field("request"); typed != "" {
		return ask.ReadRequest("the request", typed)
	}
	number, err := strconv.Atoi(field("space"))
	if err != nil || number < 1 || number > len(spaces) {
		return q, errors.New("there is no table or index with that number; load the page again")
	}
	typed, err := Query.Form(field)
	if err != nil {
		return q, err
	}

	space := spaces[number-1]
	t, err := explain.Describe(ctx, target, space.Table)
	if err != nil {
		return q, err
	}
	typed.Index = space.Index
	in, err := typed.Input(t)
	if err != nil {
		return q, err
	}
	return explain.Question{Input: in, Text: compile.JSON(in), Spelled: true}, nil
}
