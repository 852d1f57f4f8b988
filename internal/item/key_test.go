package item_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// genTuple generates lists of byte strings. Many bytes are those that escape or end the components of tuples.
var genTuple = gen.SliceOf(gen.SliceOf(gen.OneConstOf(byte(0x00), byte(0x01), byte(0x02), byte('a'), byte(0xFE),
	byte(0xFF))))

func encode(tuple [][]byte) (key []byte) {
	for _, component := range tuple {
		key = item.AppendKey(key, attr.NewBinary(component))
	}
	return key
}

func TestPropertyTuples(t *testing.T) {
	properties := gopter.NewProperties(proptest.Parameters(300))

	properties.Property("tuples lie in the order of their components, the first that differs deciding", prop.ForAll(
		func(a, b [][]byte) bool {
			return bytes.Compare(encode(a), encode(b)) == slices.CompareFunc(a, b, bytes.Compare)
		}, genTuple, genTuple))

	properties.Property("tuples that continue another begin with its bytes, and no others do", prop.ForAll(
		func(a, b [][]byte) bool {
			continues := len(a) <= len(b) && slices.EqualFunc(a, b[:min(len(a), len(b))], bytes.Equal)
			return bytes.HasPrefix(encode(b), encode(a)) == continues
		}, genTuple, genTuple))

	properties.Property("components that begin with some bytes are those whose key begins with its prefix", prop.ForAll(
		func(prefix, component []byte) bool {
			key := item.AppendKey(nil, attr.NewBinary(component))
			return bytes.HasPrefix(key, item.AppendKeyPrefix(nil, prefix)) == bytes.HasPrefix(component, prefix)
		}, gen.SliceOf(gen.UInt8()), gen.SliceOf(gen.UInt8())))

	properties.Property("a tuple can be taken apart again", prop.ForAll(
		func(tuple [][]byte) bool {
			key := encode(tuple)
			for _, want := range tuple {
				got, rest, ok := item.CutKey(nil, key)
				if !ok || !bytes.Equal(got, want) {
					return false
				}
				key = rest
			}
			return len(key) == 0
		}, genTuple))

	properties.TestingRun(t)
}
