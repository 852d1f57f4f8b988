package fuzz_test

import (
	"encoding/json"
)

// An image is an item in the JSON of an answer, which is the same for equal
// items. It is empty for no item.
type image json.RawMessage

// UnmarshalJSON keeps the form that marshal gives to the items of answers, too.
func (x *image) UnmarshalJSON(text []byte) error {
	*x = image(marshal(json.RawMessage(text)))
	return nil
}

// MarshalJSON writes x as it is.
func (x image) MarshalJSON() ([]byte, error) { return x, nil }

// checkStream replays the whole stream of a table into an empty one and compares
// the items. Each record must find the item as its old image says.
func (w *world) checkStream(m *model) {
	w.Helper()
	var described struct {
		Table struct{ LatestStreamArn string }
	}
	w.must("DescribeTable", map[string]any{"TableName": m.name}, &described)
	arn := described.Table.LatestStreamArn
	var stream struct {
		StreamDescription struct{ Shards []struct{ ShardId string } }
	}
	w.must("DescribeStream", map[string]any{"StreamArn": arn}, &stream)
	items := map[string]string{} // by key
	for _, shard := range stream.StreamDescription.Shards {
		var at struct{ ShardIterator string }
		w.must("GetShardIterator", map[string]any{"StreamArn": arn, "ShardId": shard.ShardId, "ShardIteratorType": "TRIM_HORIZON"}, &at)
		for at.ShardIterator != "" {
			var page struct {
				NextShardIterator string
				Records           []struct {
					EventName string
					Dynamodb  struct{ Keys, OldImage, NewImage image }
				}
			}
			w.must("GetRecords", map[string]any{"ShardIterator": at.ShardIterator, "Limit": 50}, &page)
			for _, r := range page.Records {
				key, old := string(r.Dynamodb.Keys), string(r.Dynamodb.OldImage)
				if was := items[key]; was != old {
					w.Fatalf("a record of %s has the old image %s, but the item is %s", key, old, was)
				}
				event := "MODIFY"
				switch next := string(r.Dynamodb.NewImage); {
				case next == "":
					event = "REMOVE"
					delete(items, key)
				case old == "":
					event = "INSERT"
					items[key] = next
				case next == old:
					w.Fatalf("a record of %s changes nothing", key)
				default:
					items[key] = next
				}
				if r.EventName != event {
					w.Fatalf("a record of %s is called %s, not %s", key, r.EventName, event)
				}
			}
			if at.ShardIterator = page.NextShardIterator; len(page.Records) == 0 {
				break
			}
		}
	}
	found := 0
	for start := image(nil); ; {
		in := map[string]any{"TableName": m.name}
		if start != nil {
			in["ExclusiveStartKey"] = start
		}
		var page struct {
			Items            []map[string]json.RawMessage
			LastEvaluatedKey image
		}
		w.must("Scan", in, &page)
		for _, it := range page.Items {
			key := map[string]json.RawMessage{}
			for _, name := range m.keyNames() {
				key[name] = it[name]
			}
			if got := items[string(marshal(key))]; got != string(marshal(it)) {
				w.Fatalf("the stream gives %s, the table has %s", got, marshal(it))
			}
			found++
		}
		if start = page.LastEvaluatedKey; start == nil {
			break
		}
	}
	if found != len(items) {
		w.Fatalf("the stream gives %d items, the table has %d", len(items), found)
	}
}
