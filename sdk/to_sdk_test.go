package sdk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
)

// TestToSDK converts items one after the other that differ in names, kinds and
// the lengths of texts, and compares with the values they were made of.
func TestToSDK(t *testing.T) {
	text := func(n int) *types.AttributeValueMemberS {
		return &types.AttributeValueMemberS{Value: strings.Repeat("é", n/2) + strings.Repeat("x", n%2)}
	}
	number := func(n int) *types.AttributeValueMemberN { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
	var want []map[string]types.AttributeValue
	for i := range 40 {
		long, name := 250+i, strings.Repeat("n", 240+i)
		m := map[string]types.AttributeValue{
			"id": text(i), "n": number(i), fmt.Sprint("own", i%3): text(long), name: number(-i),
			"list": &types.AttributeValueMemberL{
				Value: []types.AttributeValue{
					text(long), number(1), text(0), &types.AttributeValueMemberBOOL{Value: true},
				},
			},
			"map": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
				name: text(3), "b": &types.AttributeValueMemberSS{Value: []string{"", strings.Repeat("s", long)}},
			}},
			"numbers": &types.AttributeValueMemberNS{Value: []string{"1", "2", fmt.Sprint(10 + i)}},
			"bytes":   &types.AttributeValueMemberBS{Value: [][]byte{{0}, {1, 2}}},
			"none":    &types.AttributeValueMemberNULL{Value: true},
			"b":       &types.AttributeValueMemberB{Value: []byte{}},
		}
		if i%4 == 0 {
			delete(m, "id")
		}
		want = append(want, m)
	}
	want = append(want, map[string]types.AttributeValue{})
	var items []attr.Item
	for _, m := range want {
		s := new(fromSDK)
		items = append(items, s.item(m))
		require.False(t, s.refused)
	}
	require.Equal(t, want, itemsOf(items))
	for i, it := range items {
		require.Equal(t, want[i], itemOf(it))
	}
	require.Nil(t, itemOf(nil))
	require.Nil(t, itemsOf(nil))
}

// TestToSDKAllocates bounds what an item of five attributes takes: the map,
// its texts, and the boxes by kind.
func TestToSDKAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector a pool does not keep what it is given")
	}
	it := new(fromSDK).item(map[string]types.AttributeValue{
		"a": &types.AttributeValueMemberS{Value: "x"}, "b": &types.AttributeValueMemberS{Value: "y"},
		"c": &types.AttributeValueMemberS{Value: "z"},
		"d": &types.AttributeValueMemberN{Value: "1"}, "e": &types.AttributeValueMemberN{Value: "2"},
	})
	if n := testing.AllocsPerRun(100, func() { itemOf(it) }); n > 6 {
		t.Errorf("an item of five attributes takes %v allocations, want at most 6", n)
	}
}
