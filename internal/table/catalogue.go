package table

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"

	"github.com/sortkey/sortkey/store"
)

// CatalogueSpace is the space of the catalogue: the definitions of tables, their counters, backups and jobs.
const CatalogueSpace store.Space = 0

// Partitions of the catalogue that this package and package life use.
var (
	// CountersPartition has the last assigned space, and the counters of items and bytes.
	CountersPartition = []byte("counters")
	// ExactRow is the row that marks the stored counters of items as exact.
	ExactRow = []byte("statistics are exact")
	// EndedStreams has the streams that were switched off; see [EndedStreamRow].
	EndedStreams = []byte("streams")

	spaceCounter = []byte("space")
)

// RowsOf yields the rows of a partition of the catalogue.
func RowsOf(r store.Reader, partition []byte) iter.Seq2[store.Row, error] {
	return r.Query(CatalogueSpace, partition, store.Range{}, false)
}

// PutJSON puts a row of the catalogue whose value is the JSON of v.
func PutJSON(w store.Writer, partition, row []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.Put(CatalogueSpace, partition, row, value)
}

// LastSpace returns the space that was assigned last.
func LastSpace(r store.Reader) (last store.Space, err error) {
	value, ok, err := r.Get(CatalogueSpace, CountersPartition, spaceCounter)
	if err != nil || !ok {
		return 0, err
	}
	if err := json.Unmarshal(value, &last); err != nil {
		return 0, fmt.Errorf("damaged catalogue: counter of spaces: %w", err)
	}
	// Reject a damaged value: after one near MaxUint64, the next space would wrap around to 0, the catalogue.
	if last > math.MaxInt64 {
		return 0, fmt.Errorf("damaged catalogue: counter of spaces: %d", last)
	}
	return last, nil
}

// TakeSpaces assigns new spaces: it sets each of the given spaces that is zero to the next unused number.
func TakeSpaces(w store.Writer, spaces []*store.Space) error {
	last, err := LastSpace(w)
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if *s != 0 {
			continue
		}
		last++
		*s = last
	}
	return PutJSON(w, CountersPartition, spaceCounter, last)
}
