package transfer

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

// keys are the key attributes of a table.
type keys struct {
	names []string
	kinds []attr.Kind
}

func (s *Schema) keys() *keys {
	k := &keys{}
	all := s.keyTypes()
	for _, role := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, e := range s.KeySchema {
			if e.KeyType == role {
				name := aws.ToString(e.AttributeName)
				kind, _ := attr.ParseKind(all[name])
				k.names, k.kinds = append(k.names, name), append(k.kinds, kind)
			}
		}
	}
	return k
}

// appendKey appends the key of an item. Equal keys have equal bytes.
func (k *keys) appendKey(dst []byte, it attr.Item) ([]byte, error) {
	for i, name := range k.names {
		switch v := it.Get(name); {
		case v.IsZero():
			return dst, rejectf("key attribute %s is missing", name)
		case v.Kind() != k.kinds[i]:
			return dst, rejectf("key attribute %s has type %s, want %s", name, v.Kind(), k.kinds[i])
		default:
			dst = item.AppendKey(dst, v)
		}
	}
	return dst, nil
}

// equal reports whether two tables have the same key.
func (k *keys) equal(o *keys) bool {
	return slices.Equal(k.names, o.names) && slices.Equal(k.kinds, o.kinds)
}

// String returns the key in the syntax of [ParseKey].
func (k *keys) String() string {
	text := ""
	for i, name := range k.names {
		if i > 0 {
			text += ","
		}
		text += name + ":" + k.kinds[i].String()
	}
	return text
}

// shard assigns a key to one of n workers (FNV-1a).
func shard(key []byte, n int) int {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return int(h % uint64(n))
}
