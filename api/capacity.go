package api

import "github.com/sortkey/sortkey/table"

// consumed returns the capacity an operation used on a table in the form that
// ReturnConsumedCapacity asks for, nil for NONE. INDEXES splits it.
func consumed(mode *string, t *table.Table, c *table.Capacity) *ConsumedCapacity {
	if mode == nil || *mode == "NONE" {
		return nil
	}
	out := &ConsumedCapacity{TableName: new(t.Name()), CapacityUnits: new(c.Total())}
	if *mode != "INDEXES" {
		return out
	}
	out.Table = &Capacity{CapacityUnits: new(c.Table)}
	for _, ix := range c.Indexes {
		m := &out.GlobalSecondaryIndexes
		if ix.Local {
			m = &out.LocalSecondaryIndexes
		}
		if *m == nil {
			*m = map[string]Capacity{}
		}
		(*m)[ix.Name] = Capacity{CapacityUnits: new(ix.Units)}
	}
	return out
}
