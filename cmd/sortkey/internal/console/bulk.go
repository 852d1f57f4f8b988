package console

import (
	"context"
	"net/http"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
)

// A bulkRow identifies a row that the page shows: by its key, and by the sum of the row when the page received it.
type bulkRow struct{ Key, Sum string }

// A bulkResult says how many rows were changed, and which were not.
type bulkResult struct {
	Written int       `json:"written"`
	Units   float64   `json:"units"`
	Refused []refusal `json:"refused"`
	Undo    int       `json:"undo"` // number of the change for undo, or tooLarge
}

// A refusal says why the server has not changed an item.
type refusal struct {
	Key string `json:"key"`
	Why string `json:"why"`
}

// refusalOf returns the refusal of the item with the key. Its reason is err.
func refusalOf(t *keyschema.Table, key attr.Item, err error) refusal {
	return refusal{
		clip(valuesText(key, t.Key.Attributes()), maxKey), clip(text.Visible(message(err)), 4*maxKey),
	}
}

// bulkDelete deletes the items of several rows. It skips an item whose row has changed since the page received it.
func (s *Server) bulkDelete(w http.ResponseWriter, r *http.Request) error {
	t, index, err := s.open(r)
	if err != nil {
		return err
	}
	var sent struct{ Rows []bulkRow }
	err = readChange(w, r, &sent)
	if err == nil && (len(sent.Rows) == 0 || len(sent.Rows) > gridRows) {
		err = bad("send 1 to %d rows at once, not %d", gridRows, len(sent.Rows))
	}
	if err != nil {
		return err
	}
	// Read the table's ID before the writes. If somebody deletes the table and creates one with the same name, the ID
	// prevents an undo from writing to the new table.
	id, err := s.tableID(r.Context(), t.Name)
	if err != nil {
		return err
	}

	out := bulkResult{Refused: []refusal{}}
	var done []step
	for _, row := range sent.Rows {
		var was attr.Item
		var units float64
		key, err := cursor(row.Key)
		if err == nil {
			err = s.atOnce(r.Context(), func(ctx context.Context) (err error) {
				was, units, err = s.deleteRow(ctx, t, index, key, row.Sum)
				return err
			})
		}
		if err != nil {
			out.Refused = append(out.Refused, refusalOf(t, key, err))
			continue
		}
		done = append(done, step{was: was})
		out.Units += units
	}
	out.Written, out.Undo = len(done), s.remember(t.Name, id, "deleted", done...)
	return replyJSON(w, out)
}

// deleteRow deletes an item and returns it. It returns an error if the sum of the row differs, which means that
// somebody has changed the row since the page received it.
func (s *Server) deleteRow(
	ctx context.Context, t *keyschema.Table, index string, key attr.Item, sum string,
) (was attr.Item, units float64, err error) {
	was, err = s.read(ctx, t, key)
	if err != nil {
		return nil, 0, err
	}
	switch {
	case was == nil:
		return nil, 0, bad("there is no such item any more")
	case sumOf(projected(t.Index(index), was)) != sum:
		return nil, 0, bad("somebody has changed it since it was shown")
	}

	in, err := s.writeOf(t, was, nil)
	if err != nil {
		return nil, 0, err
	}
	page, err := operation.Send(ctx, s.opts.Target, in)
	if _, unmet := operation.Unmet(err); unmet {
		return nil, 0, bad("somebody has changed it meanwhile")
	}
	if err != nil {
		return nil, 0, err
	}
	return was, page.Units, nil
}

// projected returns the attributes of an item that an index projects, or all of them if ix is nil.
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
