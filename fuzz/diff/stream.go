package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// views are the images that a stream may keep.
var views = []string{"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}

// readStream is the operation of a request that stands for reading the new records in
// the stream of a table.
const readStream = "ListStreams to GetRecords"

// stream returns a request for the stream of a table.
func (g *generator) stream(t *schema) request {
	if t.stream && chance(g.r, 70) {
		return request{op: readStream, body: object{"TableName": t.name}}
	}
	arn := "arn:aws:dynamodb:us-east-1:000000000000:table/" + t.name + "/stream/2020-01-01T00:00:00.000"
	shard := "shardId-00000000000000000001-00000001"
	req := pick(g.r, []request{
		{op: "ListStreams", body: object{"TableName": t.name, "Limit": 1 + g.r.IntN(3)}},
		{op: "DescribeStream", body: object{"StreamArn": arn}},
		{op: "GetShardIterator", body: object{
			"StreamArn": arn, "ShardId": shard,
			"ShardIteratorType": pick(g.r, []string{"LATEST", "TRIM_HORIZON", "AFTER_SEQUENCE_NUMBER"}),
		}},
		{op: "GetRecords", body: object{"ShardIterator": arn + "|1|x"}},
	})
	if chance(g.r, 40) {
		req.body = g.spoil(req.body)
	}
	return req
}

// target returns the X-Amz-Target of an operation.
func target(op string) string {
	switch op {
	case "ListStreams", "DescribeStream", "GetShardIterator", "GetRecords":
		return "DynamoDBStreams_20120810." + op
	}
	return "DynamoDB_20120810." + op
}

// A tap is a place in the stream of a table of one endpoint: the next iterator of
// each shard, and the number of records to pass over there.
type tap struct {
	iterators []string
	skip      []int
}

// tapKey names a tap.
type tapKey struct{ url, table string }

// ask sends a request that has to succeed and decodes the response.
func ask[O any](ctx context.Context, url, op string, in object) (out O, failed answer, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, answer{}, err
	}
	a, err := send(ctx, url, op, body)
	if err != nil || a.status != http.StatusOK {
		return out, a, err
	}
	return out, a, json.Unmarshal([]byte(a.raw), &out)
}

// open returns a tap at the beginning of a stream.
func open(ctx context.Context, url, table string) (*tap, answer, error) {
	streams, a, err := ask[struct{ Streams []struct{ StreamArn string } }](
		ctx, url, "ListStreams", object{"TableName": table},
	)
	if err != nil || a.status != http.StatusOK {
		return nil, a, err
	}

	t := new(tap)
	for _, st := range streams.Streams {
		d, a, err := ask[struct {
			StreamDescription struct{ Shards []struct{ ShardId string } }
		}](ctx, url, "DescribeStream", object{"StreamArn": st.StreamArn})
		if err != nil || a.status != http.StatusOK {
			return nil, a, err
		}
		for _, sh := range d.StreamDescription.Shards {
			it, a, err := ask[struct{ ShardIterator string }](
				ctx, url, "GetShardIterator",
				object{"StreamArn": st.StreamArn, "ShardId": sh.ShardId, "ShardIteratorType": "TRIM_HORIZON"},
			)
			if err != nil || a.status != http.StatusOK {
				return nil, a, err
			}
			t.iterators, t.skip = append(t.iterators, it.ShardIterator), append(t.skip, 0)
		}
	}
	return t, a, nil
}

// records returns the new records in the stream of a table, as an answer whose body has
// the changes of each item in their order. Changes of the items in leave are left out.
func (r *runner) records(ctx context.Context, url, table string, leave map[string]bool) (answer, error) {
	at := r.taps[tapKey{url, table}]
	if at == nil {
		t, a, err := open(ctx, url, table)
		if err != nil || t == nil {
			return a, err
		}
		at = t
		r.taps[tapKey{url, table}] = at
	} else if r.name == "moto" && url == r.peer {
		// moto's iterators read the stream as it was before a transaction that
		// was refused.
		t, a, err := open(ctx, url, table)
		if err != nil || t == nil {
			return a, err
		}
		at.iterators = t.iterators
	}

	items := object{}
	for i := range at.iterators {
		seen := 0
		for at.iterators[i] != "" {
			page, a, err := ask[struct {
				Records []struct {
					EventName string         `json:"eventName"`
					Dynamodb  map[string]any `json:"dynamodb"`
				}
				NextShardIterator string
			}](ctx, url, "GetRecords", object{"ShardIterator": at.iterators[i]})
			if err != nil || a.status != http.StatusOK {
				return a, err
			}

			at.iterators[i] = page.NextShardIterator
			for _, rec := range page.Records {
				if seen++; r.name == "moto" && url == r.peer && seen <= at.skip[i] {
					continue
				}
				key := keyText(table, rec.Dynamodb["Keys"])
				if leave[key] {
					continue
				}
				delete(rec.Dynamodb, "SequenceNumber")
				delete(rec.Dynamodb, "ApproximateCreationDateTime")
				rec.Dynamodb["eventName"] = rec.EventName
				list, _ := items[key].(list)
				items[key] = append(list, rec.Dynamodb)
			}

			if len(page.Records) == 0 {
				break
			}
		}

		at.skip[i] = seen
	}

	raw := text(object{"Records": items})
	return parse(readStream, http.StatusOK, []byte(raw)), nil
}

// keyText is the same for all ways of writing a key.
func keyText(table string, key any) string {
	return table + " " + text(canonical(clone(key)))
}

// taint notes that the history of the items of a request is not the same on both
// sides.
func (r *runner) taint(req request) {
	for _, d := range written(req) {
		r.tainted[keyText(fmt.Sprint(d["TableName"]), d["Key"])] = true
	}
}

// compareStream compares the new records in the stream of a table.
func (r *runner) compareStream(ctx context.Context, req request) error {
	table, _ := req.body["TableName"].(string)
	a, err := r.records(ctx, r.ours, table, r.tainted)
	if err != nil {
		return err
	}
	b, err := r.records(ctx, r.peer, table, r.tainted)
	if err != nil {
		return err
	}
	for key := range r.tainted {
		if strings.HasPrefix(key, table+" ") {
			delete(r.tainted, key)
		}
	}
	r.sent++
	show(&a, &b)
	r.note(req, []byte(text(req.body)), a, b)
	return nil
}

// show leaves in the raw texts of two answers, which a report prints, the items
// whose changes differ in more than their size.
func show(a, b *answer) {
	changes := func(x *answer) object {
		o, _ := withoutSizes(readStream, clone(x.body)).(object)
		items, _ := o["Records"].(object)
		return items
	}
	x, y := changes(a), changes(b)
	for key := range x {
		if text(x[key]) == text(y[key]) {
			delete(x, key)
			delete(y, key)
		}
	}
	if a.status == b.status {
		a.raw, b.raw = text(x), text(y)
	}
}
