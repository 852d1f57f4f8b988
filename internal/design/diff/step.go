package diff

import (
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/text"
)

// A Step is a step of the plan that leads from the old version of a design to the new one.
type Step struct {
	Kind Kind   `json:"kind"`
	Do   string `json:"do"`
	// Table, Index, Entity and Attributes say what the step changes. Patterns are the patterns that the program
	// switches ([Switch]) or stops using ([StopAsking]).
	Table      string   `json:"table,omitempty"`
	Index      string   `json:"index,omitempty"`
	Entity     string   `json:"entity,omitempty"`
	Attributes []string `json:"attributes,omitempty"`
	Patterns   []string `json:"patterns,omitempty"`
	// Items is the number of items that the step changes at the declared scale, and Units are the write units for
	// them. Cost is their on-demand price, in the currency of the new version's bill.
	Items int     `json:"items,omitempty"`
	Units float64 `json:"units,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
	money string
}

// A Kind says what a step does.
type Kind string

// The kinds of steps, in the order of a plan. Tables, indexes and attributes have the names of the target. Before
// [Switch], the patterns of the old version read the same as ever. From then on, the patterns of the new version read
// what they should, with two exceptions: until [DeleteItems], they may also read items of entities that are gone, and
// until [PutListed], they do not find the raw items that only the new version lists.
const (
	StopExpiring Kind = "stop-expiring" // turn off time to live of Table
	Retire       Kind = "retire"        // stop writing items of Entity, which the new version does not have
	CreateTable  Kind = "create-table"  // with its indexes
	CreateIndex  Kind = "create-index"
	WriteBoth    Kind = "write-both"   // also write Entity to Table, or its new Attributes
	PutItems     Kind = "put"          // put the existing items of Entity, or raw items, into Table under new keys
	SetItems     Kind = "set"          // set Attributes of the existing items of Entity
	Switch       Kind = "switch"       // switch the program to the new version; Patterns may be empty
	StopAsking   Kind = "stop-asking"  // stop using Patterns
	DeleteTable  Kind = "delete-table" // with its items
	DeleteIndex  Kind = "delete-index"
	DeleteItems  Kind = "delete-items" // delete all items of Entity, which the new version does not have
	DeleteOld    Kind = "delete-old"   // delete the items of Entity in Table under their old keys
	StopWriting  Kind = "stop-writing" // stop writing Attributes of Entity, and remove them
	Keep         Kind = "keep"         // stop writing Attributes of Entity, but leave them in existing items
	PutListed    Kind = "put-listed"   // put raw items that are new, or have new attributes, into Table
	Expire       Kind = "expire"       // turn on time to live of Table
)

// backfillRate is the number of write units per second that Time assumes. One partition can serve that many.
const backfillRate = 1000

// Time returns how long the step takes at backfillRate.
func (s Step) Time() time.Duration {
	return time.Duration(s.Units / backfillRate * float64(time.Second)).Round(time.Second)
}

// Figures describes the cost of the step. It returns "" if the step changes no items.
func (s Step) Figures() string {
	var parts []string
	if s.Items > 0 {
		parts = append(parts, text.Count(s.Items, "item"))
	}
	if s.Units > 0 {
		parts = append(parts, text.Count(int(s.Units), "write unit"))
		if s.Time() >= time.Second {
			parts = append(parts, s.Time().String()+" at 1,000 a second")
		}
		if s.money != "" {
			parts = append(parts, s.money+" on demand")
		}
	}
	return strings.Join(parts, ", ")
}
