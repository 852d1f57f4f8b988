package diff

import (
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/text"
)

// A Step is a step from one version of a design to the other.
type Step struct {
	Kind Kind   `json:"kind"`
	Do   string `json:"do"`
	// Table, Index, Entity and Attributes are what it is about; Patterns are those that change with it.
	Table      string   `json:"table,omitempty"`
	Index      string   `json:"index,omitempty"`
	Entity     string   `json:"entity,omitempty"`
	Attributes []string `json:"attributes,omitempty"`
	Patterns   []string `json:"patterns,omitempty"`
	// Items is the number of items that it concerns at the declared scale, and Units are the write units
	// that it takes. Cost is their price on demand, in the currency of the bill of the new version.
	Items int     `json:"items,omitempty"`
	Units float64 `json:"units,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
	money string
}

// A Kind says what a step does.
type Kind string

// The kinds of steps, in the order in which they come. Tables, indexes and attributes have the names of the
// target. Until [Switch] the patterns of the old version read what they read before, and from then on those of
// the new version read what they should, but for items of entities that are gone, which they may read until
// [DeleteItems].
const (
	StopExpiring Kind = "stop-expiring" // turn off time to live of Table
	Retire       Kind = "retire"        // stop writing items of Entity, which is gone
	CreateTable  Kind = "create-table"  // with its indexes
	CreateIndex  Kind = "create-index"
	WriteBoth    Kind = "write-both"   // write Entity to Table, or Attributes of it, beside the old form
	PutItems     Kind = "put"          // put the items of Entity, or of none, into Table under their new keys
	SetItems     Kind = "set"          // set Attributes of the items of Entity that are there
	Switch       Kind = "switch"       // use the new version, of Patterns if there are any
	StopAsking   Kind = "stop-asking"  // ask for Patterns no more
	DeleteTable  Kind = "delete-table" // with what is in it
	DeleteIndex  Kind = "delete-index"
	DeleteItems  Kind = "delete-items" // delete all items of Entity, which is gone
	DeleteOld    Kind = "delete-old"   // delete the items of Entity in Table under the keys that they no longer have
	StopWriting  Kind = "stop-writing" // stop writing Attributes of Entity, and remove them
	Keep         Kind = "keep"         // stop writing Attributes of Entity, and leave them in the items
	Expire       Kind = "expire"       // turn on time to live of Table
)

// backfillRate is the rate of write units at which the time of a step is given, that of one partition.
const backfillRate = 1000

// Time returns how long the step takes at 1,000 write units a second.
func (s Step) Time() time.Duration {
	return time.Duration(s.Units / backfillRate * float64(time.Second)).Round(time.Second)
}

// Figures says what the step takes, or returns "".
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
