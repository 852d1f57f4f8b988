package life

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// endStream records that the stream of the definition old was switched off, unless def still has the same stream. def
// is nil for a deleted table.
func (db *DB) endStream(w store.Writer, old, def *table.Definition) error {
	if old.Stream == nil || def != nil && def.Stream != nil && def.Stream.Space == old.Stream.Space {
		return nil
	}
	st := old.StreamInfo()
	st.Ended = db.Clock().UTC()
	return table.PutJSON(w, table.EndedStreams, table.EndedStreamRow(st.Table, st.Label), st)
}

// labelForm is the layout of the time in the ARN of a stream.
const labelForm = "2006-01-02T15:04:05.000"

// beginStream gives a new stream its creation time and label. It makes sure that no other stream of the table name
// has the same label.
func beginStream(r store.Reader, st *table.Stream, name string) error {
	for {
		st.Label = st.Created.UTC().Format(labelForm)
		_, taken, err := r.Get(table.CatalogueSpace, table.EndedStreams, table.EndedStreamRow(name, st.Label))
		if err != nil || !taken {
			return err
		}
		st.Created = st.Created.Add(time.Millisecond)
	}
}

// clearStreams removes the streams that were switched off longer than [table.StreamRetention] ago.
func (db *DB) clearStreams(ctx context.Context) error {
	list, err := viewed(ctx, db, table.ReadEndedStreams)
	if err != nil {
		return err
	}

	for _, st := range list {
		if !db.Trimmed(st.Ended) {
			continue
		}
		var listed []store.Space
		err := db.Change(ctx, func(w store.Writer) (err error) {
			row := table.EndedStreamRow(st.Table, st.Label)
			if err := w.Delete(table.CatalogueSpace, table.EndedStreams, row); err != nil {
				return err
			}
			listed, err = db.drop(w, st.Space)
			return err
		})
		if err != nil {
			return err
		}
		db.clearDropped(ctx, listed)
	}

	return nil
}
