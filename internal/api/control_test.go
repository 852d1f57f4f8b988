package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const arnH = "arn:aws:dynamodb:us-east-1:000000000000:table/HHH"

func tagList(from, to int) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(`{"Key":"k%02d","Value":"%d"}`, i, i))
	}
	return `[` + strings.Join(list, ",") + `]`
}

// TestConcurrentTags checks that concurrent requests to set tags lose none. Source: alternator, test_tag.py.
func TestConcurrentTags(t *testing.T) {
	e := newEndpoint(t, tableH)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { e.answer("TagResource", `{"ResourceArn":"`+arnH+`","Tags":`+tagList(i, i+1)+`}`) })
	}
	wg.Wait()
	e.want("ListTagsOfResource", `{"ResourceArn":"`+arnH+`"}`, `{"Tags":`+tagList(0, 50)+`}`)
}

// described returns members of a table's description, as JSON.
func (e *endpoint) described(name string, members ...string) string {
	e.t.Helper()
	var out struct{ Table map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(e.answer("DescribeTable", `{"TableName":"`+name+`"}`)), &out); err != nil {
		e.t.Fatal(err)
	}
	got := map[string]json.RawMessage{}
	for _, m := range members {
		if v, ok := out.Table[m]; ok {
			got[m] = v
		}
	}
	text, err := json.Marshal(got)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

func (e *endpoint) describes(name, want string, members ...string) {
	e.t.Helper()
	if got := e.described(name, members...); !sameJSON(e.t, got, want) {
		e.t.Errorf("%s is described\n as %s\nwant %s", name, got, want)
	}
}
