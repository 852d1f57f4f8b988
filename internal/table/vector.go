package table

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
)

// SetVector makes ix a vector index. The partition key in v.Schema becomes the key of ix.
func (ix *IndexDefinition) SetVector(v *Vector) {
	ix.Vector, ix.Key = v, nil
	for _, e := range v.Schema {
		if e.Hash {
			ix.Key = append(ix.Key, e)
		}
	}
}

func (d *Definition) checkVectors(names map[string]bool) error {
	if len(d.Vectors) == 0 {
		return nil
	}
	if !d.OnDemandBilling() {
		return invalid(wrong + "Vector indexes are only supported for PAY_PER_REQUEST tables")
	}
	for i := range d.Vectors {
		if err := d.checkVector(&d.Vectors[i], names); err != nil {
			return err
		}
	}
	if len(d.Vectors) > MaxVectorIndexes {
		return invalid(wrong+"VectorIndex count exceeds the per-table limit of %d", MaxVectorIndexes)
	}

	for i, ix := range d.Vectors {
		v := ix.Vector
		same := func(o IndexDefinition) bool {
			return o.Vector.Attribute == v.Attribute && o.Vector.Dimensions != v.Dimensions
		}
		if slices.ContainsFunc(d.Vectors[:i], same) {
			return invalid(
				wrong+
					"Conflicting attribute definition for '%s'. All VectorIndexes on the same vector attribute must "+
					"use the same dimensions.",
				v.Attribute,
			)
		}

		if _, ok := d.attribute(v.Attribute); ok {
			return invalid(
				wrong+
					"Conflicting attribute definition for '%s'. An attribute cannot be defined in "+
					"AttributeDefinitions when used as a VectorAttribute.",
				v.Attribute,
			)
		}
	}

	return nil
}

func (d *Definition) checkVector(ix *IndexDefinition, names map[string]bool) error {
	v := ix.Vector
	switch {
	case v == nil:
		return invalid(wrong+"Index %s has no vector", ix.Name)
	case v.Dimensions < 1 || v.Dimensions > MaxDimensions:
		return invalid(wrong+"Number of dimensions must be between 1 and %d inclusive.", MaxDimensions)
	}

	if err := ix.check(names); err != nil {
		return err
	}
	hashes := 0
	for i, e := range v.Schema {
		if _, ok := d.attribute(e.Name); !ok {
			return invalid(wrong + "One element in SearchSchema is not defined in attribute definitions")
		}
		if e.Hash {
			hashes++
		}
		if slices.ContainsFunc(v.Schema[:i], func(o KeyElement) bool { return o.Name == e.Name }) {
			return invalid(wrong + "SearchSchema contains a duplicate AttributeName")
		}
	}

	switch {
	case hashes > 1:
		return invalid(
			wrong+
				"Value '%d' at 'SearchSchema' failed to satisfy constraint: "+
				"Member must have HASH count less than or equal to 1",
			hashes,
		)
	case len(v.Schema)-hashes > MaxFilters: // no captured text
		return invalid(
			wrong+
				"Value '%d' at 'SearchSchema' failed to satisfy constraint: "+
				"Member must have INLINE_FILTER count less than or equal to %d",
			len(v.Schema)-hashes, MaxFilters,
		)
	}

	return nil
}

// readVector appends the elements of a list of numbers to dst, each as a float32 of 4 bytes. It returns an error if
// the value cannot be a vector of the index.
func (ix *Index) readVector(dst []byte, v attr.Value) ([]byte, error) {
	name, n := ix.def.Vector.Attribute, ix.def.Vector.Dimensions
	const invalidValue = "One or more parameter values were invalid. "
	if v.Kind() != attr.List {
		return dst, invalid(
			invalidValue+"Invalid type for parameter %s, Expected: 32-bit floating point number list IndexName: %s",
			name, ix.def.Name,
		)
	}

	if int64(v.Len()) != n {
		return dst, invalid(
			invalidValue+"Invalid size for parameter %s, Expected: %d, Actual: %d IndexName: %s", name, n, v.Len(),
			ix.def.Name,
		)
	}

	for i := range v.Len() {
		e := v.Index(i)
		if e.Kind() != attr.Number {
			return dst, invalid(
				invalidValue+
					"Invalid type for parameter %s[%d], Expected: "+
					"32-bit floating point number, Actual: %v. IndexName: %s",
				name, i, e.Kind(), ix.def.Name,
			)
		}
		f, ok := Float(e)
		if !ok {
			return dst, invalid(
				invalidValue+
					"Invalid value for parameter %s[%d], Value: %s is outside valid range [-3.4028235E38, "+
					"3.4028235E38]. IndexName: %s",
				name, i, e.AppendNumber(nil), ix.def.Name,
			)
		}
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}

	return dst, nil
}

// Float returns a number as a float32, or false if it is out of range.
func Float(v attr.Value) (float32, bool) {
	var buf [48]byte
	f, err := strconv.ParseFloat(string(v.AppendNumber(buf[:0])), 32)
	return float32(f), err == nil
}

// checkVectorEntry returns an error if an item has a value that the vector index does not allow. It checks only
// attributes for which changed returns true.
func (ix *Index) checkVectorEntry(it attr.Item, changed func(name string) bool) error {
	if v := it.Get(ix.def.Vector.Attribute); !v.IsZero() && changed(ix.def.Vector.Attribute) {
		if _, err := ix.readVector(nil, v); err != nil {
			return err
		}
	}
	for _, a := range ix.filters {
		v := it.Get(a.Name)
		if v.IsZero() || !changed(a.Name) {
			continue
		}
		if v.Kind() != a.Kind {
			return invalid(
				"One or more parameter values were invalid. Attribute '%s' type mismatch. "+
					"Expected: %v, Actual: %v. IndexName: %s",
				a.Name, a.Kind, v.Kind(), ix.def.Name,
			)
		}
		if !ix.key.Has(a.Name) {
			continue
		}
		if err := ix.key.CheckValue(a, v); err != nil {
			return invalid("%s", err.Error())
		}
	}
	return nil
}

// makeVector is [entry.make] for a vector index.
func (e *entry) makeVector(ix *Index, it attr.Item) bool {
	v := it.Get(ix.def.Vector.Attribute)
	if v.IsZero() || ix.checkEntry(it) != nil {
		return false
	}
	vector, err := ix.readVector(nil, v)
	if err != nil || !e.setKey(ix, it) {
		return false
	}

	var b attr.Builder
	for name, v := range it.All() {
		switch {
		case string(name) == ix.def.Vector.Attribute:
			b.AddBytes(name, attr.NewBinary(vector))
		case ix.project == nil || ix.project(name):
			b.AddBytes(name, v)
		}
	}

	e.value = b.Item()
	return true
}

// A vectorAttribute is the vector attribute of one or more vector indexes.
type vectorAttribute struct {
	name       string
	dimensions int
}

// vectorAttributes returns the vector attributes of all vector indexes in the order of the indexes. Indexes can share
// an attribute, which then appears once.
func (d *Definition) vectorAttributes() (list []vectorAttribute) {
	for _, ix := range d.Vectors {
		a := vectorAttribute{ix.Vector.Attribute, int(ix.Vector.Dimensions)}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// vectorBytes is the billed size of one element of a vector, however many digits the number has.
const vectorBytes = 4

// BilledSize returns the size of an item that counts for read and write units of the table and for TableSizeBytes. If
// the item has the vector of a vector index, each element of the vector counts 4 bytes. All other sizes count the
// elements as numbers: the limit of an item, the limit of a page, and secondary indexes. Source: conformance captures
// and dynoxide's of eu-west-2 and us-east-1, 2026-10-09; of reads, 2026-10-23.
func (t *Table) BilledSize(it attr.Item) int {
	size := it.Size()
	for _, a := range t.vectors {
		if v := it.Get(a.name); a.isVector(v) {
			size += vectorBytes*a.dimensions - v.Size()
		}
	}
	return size
}

// BilledAs reports whether [Table.BilledSize] returns the same sizes for t and for o, another version of the table.
func (t *Table) BilledAs(o *Table) bool { return slices.Equal(t.vectors, o.vectors) }

// isVector reports whether a value is a list of numbers of the right length. Items that are older than the index may
// have other values.
func (a *vectorAttribute) isVector(v attr.Value) bool {
	if v.Kind() != attr.List || v.Len() != a.dimensions {
		return false
	}
	for i := range a.dimensions {
		if v.Index(i).Kind() != attr.Number {
			return false
		}
	}
	return true
}

// minVectorBytes is the minimum number of bytes charged for a write or a search of a vector index.
const minVectorBytes = 1024

// charge adds the capacity that a write of entry to the index consumes.
func (ix *Index) charge(units *Capacity, entry attr.Item) {
	if ix.def.Vector == nil {
		units.addIndex(ix.def.Name, ix.local, WriteUnits(entry.Size()))
		return
	}
	units.addVector(ix.def.Name, float64(max(entry.Size(), minVectorBytes)))
}
