package console

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// mostBulk is the number of rows that a page sends at once: it goes on with the next, so that it can show how far it
// is.
const mostBulk = 25

// A bulkChange is what the page sends to change rows: to delete them, or to set an attribute of them.
type bulkChange struct {
	Rows        []bulkRow
	Name, Value string // of the attribute, "" to delete
	Undo        int    // the number of the change, 0 if it begins
}

// A bulkRow is a row as the page got it.
type bulkRow struct{ Key, Sum string }

// A bulkResult says what became of rows.
type bulkResult struct {
	Written int       `json:"written"`
	Units   float64   `json:"units"`
	Refused []refusal `json:"refused"`
	Undo    int       `json:"undo"` // the number of the change, [tooLarge] if it cannot be undone
}

// A refusal says why a row is not changed.
type refusal struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// bulk changes rows, each if it is as the page got it.
func (s *Server) bulk(w http.ResponseWriter, r *http.Request) {
	t, index, err := s.open(r)
	if err != nil {
		fail(w, err)
		return
	}
	var c bulkChange
	if err := readChange(w, r, &c); err != nil {
		fail(w, err)
		return
	}
	value, err := c.value(t)
	if err == nil && (len(c.Rows) == 0 || len(c.Rows) > mostBulk) {
		err = bad("send 1 to %d rows at once, not %d", mostBulk, len(c.Rows))
	}
	if err != nil {
		fail(w, err)
		return
	}

	what := "deleted"
	if !value.IsZero() {
		what = "set " + text.Name(c.Name) + " of"
	}
	out := bulkResult{Refused: []refusal{}, Undo: c.Undo}
	for _, row := range c.Rows {
		key, err := cursor(row.Key)
		if err == nil {
			var units float64
			var done step
			err = s.atOnce(r.Context(), func(ctx context.Context) (err error) {
				done, units, err = s.changeRow(ctx, t, index, key, row.Sum, &c, value)
				return err
			})
			out.Units += units
			if err == nil && !same(done.was, done.is) {
				out.Undo = s.remember(out.Undo, t.Name, what, done)
			}
		}
		if err == nil {
			out.Written++
			continue
		}
		out.Refused = append(out.Refused, refusal{
			clip(valuesText(key, t.Key.Attributes()), maxKey), clip(text.Visible(message(err)), 4*maxKey),
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// value returns the value that the change sets, the zero Value to delete.
func (c *bulkChange) value(t *keyschema.Table) (attr.Value, error) {
	switch {
	case c.Name == "" && c.Value == "":
		return attr.Value{}, nil
	case c.Name == "":
		return attr.Value{}, bad("name the attribute to set")
	case hasAttribute(t.Key.Attributes(), c.Name):
		return attr.Value{}, bad("%s is in the key of the table: a key cannot be changed, only its item copied", c.Name)
	case c.Value == "":
		return attr.Value{}, bad(`give a value to set: "" is the empty text`)
	}
	v, err := ask.Parameter(c.Value)
	if err != nil {
		err = &badRequest{err}
	}
	return v, err
}

// valueIn returns the value that an item gets: text where its attribute is text, which may look like a number, and
// binary values and sets where it has such.
func (c *bulkChange) valueIn(t *keyschema.Table, it attr.Item, v attr.Value) attr.Value {
	old := it.Get(c.Name)
	kind := old.Kind()
	if old.IsZero() {
		kind = t.Kind(c.Name) // in the key of an index
	}
	switch {
	case kind == attr.String && v.Kind() != attr.String:
		return attr.NewString(c.Value)
	case kind == attr.Binary && old.IsZero():
		return typedLike(v, attr.NewBinary(nil))
	case kind == attr.Binary, kind.IsSet():
		return typedLike(v, old)
	}
	return v
}

// changeRow deletes an item or sets an attribute of it, if the row that the page got of it is as it was.
func (s *Server) changeRow(
	ctx context.Context, t *keyschema.Table, index string, key attr.Item, sum string, c *bulkChange, v attr.Value,
) (done step, units float64, err error) {
	now, err := s.read(ctx, t, key)
	if err != nil {
		return done, 0, err
	}
	switch {
	case now == nil:
		return done, 0, bad("there is no such item any more")
	case sumOf(projected(t.Index(index), now)) != sum:
		return done, 0, bad("somebody has changed it since it was shown")
	}

	done.was = now
	in, err := s.writeOf(t, now, nil)
	if err != nil {
		return done, 0, err
	}
	if !v.IsZero() {
		v = c.valueIn(t, now, v)
		done.is = with(now, c.Name, v)
		condition, p := unchanged(t, now)
		in = &wire.UpdateItemInput{
			TableName: &t.Name, Key: key, ConditionExpression: &condition, ReturnConsumedCapacity: new("TOTAL"),
			UpdateExpression:         new("SET " + p.Name(c.Name) + " = " + p.Value(v)),
			ExpressionAttributeNames: p.Names(), ExpressionAttributeValues: p.Values(),
		}
	}
	page, err := operation.Send(ctx, s.opts.Client, in)
	if _, unmet := operation.Unmet(err); unmet {
		return done, 0, bad("somebody has changed it meanwhile")
	}
	if err != nil {
		return done, 0, err
	}
	return done, page.Units, nil
}

// with returns an item with another value of an attribute.
func with(it attr.Item, name string, v attr.Value) attr.Item {
	var b attr.Builder
	for old, value := range it.All() {
		if string(old) != name {
			b.AddBytes(old, value)
		}
	}
	b.Add(name, v)
	return b.Item()
}

// projected returns the attributes of an item that an index holds.
func projected(ix *keyschema.Index, it attr.Item) attr.Item {
	if ix == nil {
		return it
	}
	var b attr.Builder
	for name, v := range it.All() {
		if !ix.Lacks(string(name)) {
			b.AddBytes(name, v)
		}
	}
	return b.Item()
}
