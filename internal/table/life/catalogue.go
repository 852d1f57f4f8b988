package life

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

var definitionsPartition = []byte("tables")

// A catalogue is what a store's catalogue has in decoded form: the definitions, and whether there is garbage.
type catalogue struct {
	definitions []*table.Definition
	garbage     bool // it lists spaces to clear
}

// readCatalogue reads the catalogue and checks that no space is used twice.
func readCatalogue(r store.Reader) (*catalogue, error) {
	c := new(catalogue)
	last, err := table.LastSpace(r)
	if err != nil {
		return nil, err
	}
	used := map[store.Space]bool{table.CatalogueSpace: true}
	take := func(s store.Space) bool {
		free := !used[s] && s <= last
		used[s] = true
		return free
	}
	for row, err := range table.RowsOf(r, definitionsPartition) {
		if err != nil {
			return nil, err
		}
		def, err := readDefinition(row, take)
		if err != nil {
			return nil, fmt.Errorf("damaged catalogue: definition of table %q: %w", row.Sort, err)
		}
		c.definitions = append(c.definitions, def)
	}

	for row, err := range table.RowsOf(r, table.EndedStreams) {
		if err != nil {
			return nil, err
		}
		var st table.StreamInfo
		err := json.Unmarshal(row.Value, &st)
		if err != nil || st.Shards < 1 || st.Shards > table.MaxShards || !take(st.Space) {
			return nil, fmt.Errorf("damaged catalogue: stream %q", row.Sort)
		}
	}

	backups, err := readBackups(r)
	if err != nil {
		return nil, err
	}
	for _, b := range backups {
		if !take(b.Space) {
			return nil, fmt.Errorf(
				"damaged catalogue: backup %q: space %d is in use or was never assigned", b.ID, b.Space,
			)
		}
	}

	for row, err := range table.RowsOf(r, garbagePartition) {
		if err != nil {
			return nil, err
		}
		if len(row.Sort) != 8 || used[store.Space(binary.BigEndian.Uint64(row.Sort))] {
			return nil, fmt.Errorf("damaged catalogue: cannot clear space %x, which is in use", row.Sort)
		}
		c.garbage = true
	}

	return c, nil
}

// readDefinition decodes and checks a definition. A damaged definition could mix up the rows of two tables, so
// readDefinition takes the spaces, and returns an error if it cannot take one of them.
func readDefinition(row store.Row, take func(store.Space) bool) (*table.Definition, error) {
	def := new(table.Definition)
	if err := json.Unmarshal(row.Value, def); err != nil {
		return nil, err
	}
	if def.Name != string(row.Sort) {
		return nil, fmt.Errorf("it has the name %q", def.Name)
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	if st := def.Stream; st != nil && (st.Shards < 1 || st.Shards > table.MaxShards) {
		return nil, fmt.Errorf("its stream has %d shards", st.Shards)
	}

	for _, a := range def.Attributes {
		if !a.Kind.IsScalar() {
			return nil, fmt.Errorf("key attribute %q has type %q", a.Name, a.Kind)
		}
	}
	for _, s := range def.Spaces() {
		if !take(*s) {
			return nil, fmt.Errorf("space %d is in use or was never assigned", *s)
		}
	}
	return def, nil
}

// putDefinition writes a definition to the catalogue. Before that, it assigns a space to the table and to each of its
// indexes and streams that has none.
func putDefinition(w store.Writer, def *table.Definition) error {
	if st := def.Stream; st != nil && st.Space == 0 {
		if err := beginStream(w, st, def.Name); err != nil {
			return err
		}
		def.LastStream = st.Label
	}
	if err := table.TakeSpaces(w, def.Spaces()); err != nil {
		return err
	}
	return table.PutJSON(w, definitionsPartition, []byte(def.Name), def)
}
