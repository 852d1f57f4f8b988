package console

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

func (s *Server) tables(r *http.Request) (string, any, error) {
	names, err := s.names(r.Context())
	if err != nil {
		return "", nil, err
	}

	rows, err := models.List(r.Context(), s.opts.Target, names)
	return "tables", rows, err
}

// description returns the description of a table.
func (s *Server) description(ctx context.Context, name string) (*wire.TableDescription, error) {
	out, _, err := s.opts.Target.Do(ctx, &wire.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	return out.(*wire.DescribeTableOutput).Table, nil
}

type kindCount struct {
	Kind, Color string
	N           int
}

// open returns the description of the table and the name of the index that are in the address of a request. It
// returns an error if the table does not have the index.
func (s *Server) open(r *http.Request) (t *keyschema.Table, index string, err error) {
	name, index := r.FormValue("name"), r.FormValue("index")
	t, err = explain.Describe(r.Context(), s.opts.Target, name)
	if err != nil {
		return nil, "", &badRequest{err}
	}
	if t.Schema(index) == nil {
		return nil, "", bad("table %s has no index %s", name, index)
	}
	return t, index, nil
}

// form returns the form for a query of a table. The given index is the first choice in the form, and partition its
// text for the partition.
func form(t *keyschema.Table, index, partition string) report.Asked {
	f := report.Asked{Partition: partition}
	for i, name := range append([]string{""}, t.IndexNames()...) {
		title := t.Name
		if name != "" {
			title += " by " + name
		}
		space, at := report.AskedSpace{N: i + 1, Title: title + " (" + t.Schema(name).String() + ")"}, i
		if name == index {
			at = 0
		}
		f.Spaces = slices.Insert(f.Spaces, at, space)
	}
	return f
}

// maxKey is the maximum length of a key in a list, in characters.
const maxKey = 200

// valuesText returns the values of key attributes for people to read.
func valuesText(it attr.Item, keys []keycond.Attribute) string {
	var all []string
	for _, a := range keys {
		if v := it.Get(a.Name); v.Kind() == attr.String {
			all = append(all, text.Visible(string(v.Raw())))
		} else {
			all = append(all, text.Literal(v))
		}
	}
	return strings.Join(all, ", ")
}

// askText returns the values of key attributes as a person would type them, in the syntax of package ask.
func askText(it attr.Item, keys []keycond.Attribute) string {
	var all []string
	for _, a := range keys {
		all = append(all, ask.Operand(it.Get(a.Name)))
	}
	return strings.Join(all, ",")
}

// query returns the query of a URL from names and values. It omits empty values.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Add(pairs[i], pairs[i+1])
		}
	}
	return q.Encode()
}

// cursorOf returns the ExclusiveStartKey of a request that reads the rows after the row it.
func cursorOf(t *keyschema.Table, index string, it attr.Item) attr.Item {
	var b attr.Builder
	for _, a := range slices.Concat(t.Key.Attributes(), t.Schema(index).Attributes()) {
		b.Add(a.Name, it.Get(a.Name))
	}
	return b.Item()
}

// cursorText encodes a key for a URL, and cursor decodes it.
func cursorText(key attr.Item) string {
	return base64.RawURLEncoding.EncodeToString(key.AppendJSON(nil))
}

func cursor(s string) (attr.Item, error) {
	if s == "" {
		return nil, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, damaged(err)
	}
	it, err := attr.ParseItem(data)
	if err == nil && it.Len() == 0 {
		err = errors.New("it names an item without a key")
	}
	if err != nil {
		return nil, damaged(err)
	}
	return it, nil
}
