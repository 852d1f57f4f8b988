package expr_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/item"
)

// FuzzUpdate parses any text as an update and applies it to any item. Nothing
// may panic. Errors must have the package's type. The new item must be
// canonical and not too deep, and the old one unchanged. A printed update must
// parse to the same update.
func FuzzUpdate(f *testing.F) {
	const it = `{"a": {"M": {"b": {"L": [{"N": "1"}, {"M": {"c": {"S": "x"}}}]}}}, "b": {"N": "2"}, "c": {"M": {}},
		"l": {"L": [{"S": "a"}, {"SS": ["a"]}]},
		"ss": {"SS": ["a", "b"]}, "n": {"N": "99999999999999999999999999999999999999"}, "d": {"L": [{"L": []}]},
		"x.y": {"NULL": true}}`
	for _, name := range []string{"testdata/update", "testdata/update_errors", "testdata/apply"} {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		for line := range strings.Lines(string(data)) {
			f.Add(strings.TrimSuffix(line, "\n"), it)
		}
	}
	names := map[string]string{"#a": "a", "#b": "b", "#n": "x", "#0": "x.y"}
	values := parsed(f,
		`{":n": {"N": "1"}, ":m": {"N": "-1e-130"}, ":s": {"S": "s"}, ":l": {"L": [{"L": [{"S": "deep"}]}]},
		":ss": {"SS": ["a", "c"]}, ":ns": {"NS": ["1"]},
		":bs": {"BS": ["AA=="]}, ":4": {"N": "4"}, ":7": {"N": "9e125"}, ":v": {"M": {"a": {"S": "x"}}},
		":el": {"L": []}, ":cat": {"SS": ["cat"]}, ":a": {"S": "a"}, ":b": {"BOOL": true}}`)
	f.Fuzz(func(t *testing.T, src, json string) {
		e, err := expr.NewEnv(expr.Params{Names: names, Values: values})
		require.NoError(t, err)
		u, err := e.Update(src)
		if err != nil {
			checkError(t, src, err)
			return
		}
		if printed := u.String(); len(printed) <= expr.MaxExpressionBytes {
			again, err := e.Update(printed)
			require.NoError(t, err, printed)
			require.Equal(t, printed, again.String())
			require.Equal(t, expr.Creates(u), expr.Creates(again))
		}
		old, err := attr.ParseItem([]byte(json))
		if err != nil {
			return
		}
		before := string(old)
		for _, it := range []attr.Item{old, nil} {
			after, err := u.Apply(it, parsed(t, `{"pk": {"S": "k"}}`))
			require.Equal(t, before, string(old))
			if err != nil {
				e, ok := errors.AsType[*expr.Error](err)
				require.True(t, ok, "%T", err)
				require.NotEmpty(t, e.Error())
				continue
			}
			if len(it) == 0 && !expr.Creates(u) {
				require.Nil(t, after)
				continue
			}
			_, err = item.Check(after)
			require.NoError(t, err)
			_, err = attr.ParseItem(after.AppendJSON(nil))
			require.NoError(t, err)
			for _, part := range []attr.Item{u.Project(it), u.Project(after)} {
				_, err := item.Check(part)
				require.NoError(t, err)
			}
			require.LessOrEqual(t, u.Project(after).Size(), after.Size())
		}
	})
}
