package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/demo"
	"github.com/sortkey/sortkey/examples"
)

// TestExamples is the demo itself: every answer of every example is right.
func TestExamples(t *testing.T) {
	all, err := examples.All()
	if err != nil {
		t.Fatal(err)
	}
	var reports []*demo.Report
	for _, s := range all {
		r, err := demo.Run(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		reports = append(reports, r)
		for _, res := range r.Results {
			if res.Wrong != "" {
				t.Errorf("%s: %s: %s", s.Name, res.Pattern.Name, res.Wrong)
			}
			if res.Operation == "Query" && res.Err == nil && len(res.Slices) != 1 {
				t.Errorf("%s: %s has %d slices, want 1", s.Name, res.Pattern.Name, len(res.Slices))
			}
		}
	}
	if got, want := demo.Summary(reports), "63 of 63 access patterns right"; got != want {
		t.Errorf("Summary = %s, want %s", got, want)
	}
	var out bytes.Buffer
	if err := demo.WriteJSON(&out, reports); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("WriteJSON = %v, %s", err, &out)
	}
}

const ties = `{"name": "ties",
	"tables": [{"TableName": "Ties", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
		"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}, {"AttributeName": "g", "AttributeType": "S"}, {"AttributeName": "h", "AttributeType": "N"}],
		"GlobalSecondaryIndexes": [{"IndexName": "ByG", "Projection": {"ProjectionType": "ALL"},
			"KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "h", "KeyType": "RANGE"}]}]}],
	"items": {"Ties": [
		{"id": {"N": "1"}, "g": {"S": "x"}, "h": {"N": "10"}},
		{"id": {"N": "2"}, "g": {"S": "x"}, "h": {"N": "10"}},
		{"id": {"N": "3"}, "g": {"S": "x"}, "h": {"N": "9"}}]},
	"patterns": [PATTERN]}`

func TestJudge(t *testing.T) {
	const query = `"query": {"TableName": "Ties", "IndexName": "ByG", "KeyConditionExpression": "g = :g", "ExpressionAttributeValues": {":g": {"S": "x"}}}`
	for _, tt := range []struct{ name, pattern, want string }{
		{"ties one way", query + `, "keys": [[3], [1], [2]], "ties": true`, ""},
		{"ties the other way", query + `, "keys": [[3], [2], [1]], "ties": true`, ""},
		{"beyond ties", query + `, "keys": [[1], [3], [2]], "ties": true`, "item 1 has the key (3) instead of (1)"},
		{"missing in ties", query + `, "keys": [[3], [1], [4]], "ties": true`, "the item with the key (4) is missing"},
		{"too many", query + `, "keys": [[3], [1]]`, "3 items instead of 2"},
		{"too few", query + `, "keys": [[3], [1], [2], [4]]`, "3 items instead of 4"},
		{"order", query + `, "keys": [[1], [2], [3]]`, "instead of"},
		{"answered", query + `, "error": "ValidationException"`, "it was answered, instead of refused with ValidationException"},
		{"refused", `"query": {"TableName": "Ties"}, "keys": []`, "it was refused"},
		{"refused right", `"query": {"TableName": "Ties"}, "error": "ValidationException"`, ""},
		{"refused otherwise", `"query": {"TableName": "Ties"}, "error": "SomeException"`, "it was refused with ValidationException instead of SomeException"},
		{"no table", `"scan": {"TableName": "Nope"}, "error": "ResourceNotFoundException"`, ""},
		{"item", `"get": {"TableName": "Ties", "Key": {"id": {"N": "1.0"}}}, "item": {"h": {"N": "1e1"}, "id": {"N": "1"}, "g": {"S": "x"}}`, ""},
		{"other item", `"get": {"TableName": "Ties", "Key": {"id": {"N": "1"}}}, "item": {"id": {"N": "1"}}`, `it is another item than {"id":{"N":"1"}}`},
		{"no item", `"get": {"TableName": "Ties", "Key": {"id": {"N": "7"}}}, "item": {"id": {"N": "1"}}`, "there is no item"},
		{"an item", `"get": {"TableName": "Ties", "Key": {"id": {"N": "1"}}}, "item": null`, "there is an item, instead of none"},
		{"scan", `"scan": {"TableName": "Ties", "FilterExpression": "h = :h", "ExpressionAttributeValues": {":h": {"N": "9"}}}, "keys": [[3]]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := examples.Parse("ties", []byte(strings.Replace(ties, "PATTERN", `{"name": "p", `+tt.pattern+`}`, 1)))
			if err != nil {
				t.Fatal(err)
			}
			r, err := demo.Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Results[0].Wrong; (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("wrong: %q, want %q", got, tt.want)
			}
			var out bytes.Buffer
			demo.Print(&out, r, demo.Style{Paint: true, Width: 40})
			if mark := "✗"; strings.Contains(out.String(), mark) != (tt.want != "") {
				t.Errorf("Print = %s", &out)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{`"query": {"TableName": "Ties", "Oops": 1}, "keys": []`, `ties: pattern "p": request has no member "Oops"`},
	} {
		s, err := examples.Parse("ties", []byte(strings.Replace(ties, "PATTERN", `{"name": "p", `+tt.pattern+`}`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := demo.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Run = %v, want %s", err, tt.want)
		}
	}
}
