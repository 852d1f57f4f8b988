package examples

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// check returns the first thing that makes s no model. Whether tables and
// requests are what the service accepts shows when they are sent.
func (s *System) check() error {
	if s.Name == "" {
		return errors.New(`the model has no "name"`)
	}
	if len(s.Tables) == 0 {
		return errors.New(`the model has no "tables"`)
	}
	keys := make(map[string]int, len(s.Tables))
	for i, data := range s.Tables {
		var t struct {
			TableName string
			KeySchema []json.RawMessage
		}
		if err := json.Unmarshal(data, &t); err != nil {
			return fmt.Errorf("table %d: %w", i+1, plain(err))
		}
		if t.TableName == "" {
			return fmt.Errorf("table %d has no TableName", i+1)
		}
		if len(t.KeySchema) != 1 && len(t.KeySchema) != 2 {
			return fmt.Errorf("table %s: KeySchema must name one or two attributes", t.TableName)
		}
		if _, ok := keys[t.TableName]; ok {
			return fmt.Errorf("table %s is there twice", t.TableName)
		}
		keys[t.TableName] = len(t.KeySchema)
	}
	for table, items := range s.Items {
		if keys[table] == 0 {
			return fmt.Errorf("there are items for %q, which is not among the tables", table)
		}
		for i, item := range items {
			if _, err := attr.ParseItem(item); err != nil {
				return fmt.Errorf("item %d of %s: %w", i+1, table, err)
			}
		}
	}
	var names []string
	for i := range s.Patterns {
		p := &s.Patterns[i]
		if p.Name == "" {
			return fmt.Errorf(`pattern %d has no "name"`, i+1)
		}
		if slices.Contains(names, p.Name) {
			return fmt.Errorf("pattern %q is there twice", p.Name)
		}
		names = append(names, p.Name)
		if err := p.check(keys); err != nil {
			return fmt.Errorf("pattern %q: %w", p.Name, err)
		}
	}
	return nil
}

func (p *Pattern) check(keys map[string]int) error {
	if count(p.Query != nil, p.Get != nil, p.Scan != nil) != 1 {
		return errors.New(`exactly one of "query", "get" and "scan" must be there`)
	}
	if count(p.Keys != nil, p.Item != nil, p.Error != "") != 1 {
		return errors.New(`exactly one of "keys", "item" and "error" must be there`)
	}
	if p.Keys != nil && p.Get != nil {
		return errors.New(`a "get" answers with "item", not "keys"`)
	}
	if p.Item != nil && p.Get == nil {
		return errors.New(`only a "get" answers with "item"`)
	}
	if p.Ties && p.Keys == nil {
		return errors.New(`"ties" is about "keys"`)
	}
	var request struct{ TableName string }
	_, data := p.Operation()
	if err := json.Unmarshal(data, &request); err != nil {
		return plain(err)
	}
	n := keys[request.TableName]
	if n == 0 && p.Error == "" {
		return fmt.Errorf("it asks %q, which is not among the tables", request.TableName)
	}
	for i, key := range p.Keys {
		if len(key) != n {
			return fmt.Errorf("key %d has %d values, the key of %s has %d", i+1, len(key), request.TableName, n)
		}
	}
	if p.Item != nil && string(p.Item) != "null" {
		if _, err := attr.ParseItem(p.Item); err != nil {
			return err
		}
	}
	return nil
}

func count(conds ...bool) int {
	n := 0
	for _, c := range conds {
		if c {
			n++
		}
	}
	return n
}
