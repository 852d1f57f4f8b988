package demo

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/examples"
	"github.com/sortkey/sortkey/keycond"
)

// judge holds an answer against the right one and says what is wrong with it,
// or nothing. Schema is the key of what was asked.
func judge(p *examples.Pattern, res *Result, schema *keycond.Schema) string {
	if p.Error != "" {
		return judgeError(p.Error, res)
	}
	if res.Err != nil {
		return "it was refused"
	}
	if p.Item != nil {
		return judgeItem(p, res)
	}
	if len(res.Keys) != len(p.Keys) {
		return fmt.Sprintf("%d items instead of %d", len(res.Keys), len(p.Keys))
	}
	if p.Ties {
		return judgeTies(p.Keys, res, schema)
	}
	for i := range p.Keys {
		if !p.Keys[i].Equal(res.Keys[i]) {
			return fmt.Sprintf("item %d has the key %v instead of %v", i+1, res.Keys[i], p.Keys[i])
		}
	}
	return ""
}

func judgeError(want string, res *Result) string {
	api, ok := errors.AsType[smithy.APIError](res.Err)
	switch {
	case !ok:
		return "it was answered, instead of refused with " + want
	case api.ErrorCode() != want:
		return "it was refused with " + api.ErrorCode() + " instead of " + want
	}
	return ""
}

func judgeItem(p *examples.Pattern, res *Result) string {
	if string(p.Item) == "null" {
		if len(res.Items) > 0 {
			return "there is an item, instead of none"
		}
		return ""
	}
	want, err := attr.ParseItem(p.Item)
	switch {
	case err != nil:
		return err.Error()
	case len(res.Items) == 0:
		return "there is no item"
	case !bytes.Equal(want, res.Items[0]):
		return "it is another item than " + string(want.AppendJSON(nil))
	}
	return ""
}

// judgeTies allows items with equal keys in what was asked to change places.
func judgeTies(want []examples.Key, res *Result, schema *keycond.Schema) string {
	at := make(map[string]attr.Item, len(res.Keys))
	for i, key := range res.Keys {
		if at[key.String()] != nil {
			return fmt.Sprintf("the item with the key %v is there twice", key)
		}
		at[key.String()] = res.Items[i]
	}
	for i, key := range want {
		item := at[key.String()]
		if item == nil {
			return fmt.Sprintf("the item with the key %v is missing", key)
		}
		if !sameKey(item, res.Items[i], schema) {
			return fmt.Sprintf("item %d has the key %v instead of %v", i+1, res.Keys[i], key)
		}
	}
	return ""
}

// sameKey reports whether two items lie at the same place but for their ties.
func sameKey(a, b attr.Item, schema *keycond.Schema) bool {
	for _, attrs := range [][]keycond.Attribute{schema.Hash, schema.Range} {
		for _, k := range attrs {
			if !attr.Equal(a.Get(k.Name), b.Get(k.Name)) {
				return false
			}
		}
	}
	return true
}
