package console

import (
	"context"
	"net/http"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
)

// A bulkRow identifies a row that the page shows by its key. Sum is the hash of the row when the page received it.
type bulkRow struct{ Key, Sum string }

// A bulkResult says how many rows the server has changed, and which rows it has not changed.
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

// refusalOf returns a refusal for the item with the key, with the text of err as the reason.
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
	// Read the table's ID before the writes, because undo compares it. If somebody deletes the table and creates
	// another with the same name, undo then does not write to the new table.
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

// deleteRow deletes an item and returns it. Sum is the hash of the row when the page received it. If the row now has
// another hash, somebody has changed it since, and deleteRow returns an error.
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
