package table

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/keycond"
)

// Limits of a definition. Source: DG/ServiceQuotas.html.
const (
	MaxLocalIndexes  = 5
	MaxGlobalIndexes = 20
	MaxProjected     = 100
)

const msgSameName = "Both the Hash Key and the Range Key element in the KeySchema have the same name"

const wrong = "One or more parameter values were invalid: "

// Check returns the error that CreateTable would return for an invalid definition. Messages as captured in dynalite
// (test/createTable.js); messages about multi-attribute keys follow alternator's test_gsi_composite_keys.py.
func (d *Definition) Check() error {
	for i, a := range d.Attributes {
		// Source of this text and of the one for NonKeyAttributes: ack-api-quirks,
		// DDB-TABLE-042 and 442, 2026-10-08.
		if slices.ContainsFunc(d.Attributes[:i], func(o keycond.Attribute) bool { return o.Name == a.Name }) {
			return invalid("Attribute Name is duplicated: %s", a.Name)
		}
	}

	names := map[string]bool{}
	err := cmp.Or(
		d.checkKey(d.Key, false), d.checkLocal(names), d.checkGlobal(names), d.checkVectors(names), d.checkProjected(),
	)
	if err != nil {
		return err
	}
	return d.checkUnused()
}

// checkKey returns an error for an invalid key schema. Only a global index may have several partition key or sort key
// attributes.
func (d *Definition) checkKey(key []KeyElement, global bool) error {
	if err := d.checkDefined(key, global); err != nil {
		return err
	}
	// Sources: of the order, dynalite, validations/createTable.js; of the texts about several
	// attributes, ack-api-quirks, DDB-TABLE-123.
	if len(key) == 2 && key[0].Name == key[1].Name {
		return invalid(msgSameName)
	}
	hashes, ranges := 0, 0
	for i, e := range key {
		switch {
		case e.Hash && ranges > 0 && hashes > 0:
			return invalid(wrong + "All HASH key attributes must precede RANGE key attributes in the KeySchema")
		case e.Hash:
			hashes++
		default:
			ranges++
		}
		if i == 0 && !e.Hash {
			return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
		}
	}

	limit := 1
	if global {
		limit = keycond.MaxAttributes
	}
	switch {
	case len(key) > 2*limit:
		return invalid(
			"1 validation error detected: Value '[%s]' at 'keySchema' failed to satisfy constraint: "+
				"Member must have length less than or equal to %d",
			keyText(key), 2*limit,
		)
	case hashes > limit && !global:
		return invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	case hashes > limit:
		return invalid(wrong + "The KeySchema exceeds the maximum allowed number of HASH key attributes")
	case ranges > limit:
		return invalid(wrong + "The KeySchema exceeds the maximum allowed number of RANGE key attributes")
	}

	for i, e := range key {
		if slices.ContainsFunc(key[:i], func(o KeyElement) bool { return o.Name == e.Name }) {
			return invalid(msgSameName)
		}
	}
	return nil
}

func keyText(key []KeyElement) string {
	parts := make([]string, len(key))
	for i, e := range key {
		role := "RANGE"
		if e.Hash {
			role = "HASH"
		}
		parts[i] = "KeySchemaElement(attributeName=" + e.Name + ", keyType=" + role + ")"
	}
	return strings.Join(parts, ", ")
}

// checkDefined returns an error if key attributes have no definition. For the key of the table itself, the service
// has other messages than for an index.
func (d *Definition) checkDefined(key []KeyElement, index bool) error {
	if !index && len(key) > len(d.Attributes) {
		return invalid("Invalid KeySchema: Some index key attribute have no definition")
	}
	return d.CheckDefined(key)
}

// CheckDefined returns an error if a key has attributes without a definition.
func (d *Definition) CheckDefined(key []KeyElement) error {
	var keys []string
	defined := true
	for _, e := range key {
		keys = append(keys, e.Name)
		_, ok := d.attribute(e.Name)
		defined = defined && ok
	}
	if defined {
		return nil
	}
	return invalid(
		wrong+
			"Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
		strings.Join(keys, ", "), attributeNames(d.Attributes),
	)
}

func (d *Definition) checkLocal(names map[string]bool) error {
	if len(d.Local) > MaxLocalIndexes {
		return invalid(wrong+"Number of LocalSecondaryIndexes exceeds per-table limit of %d", MaxLocalIndexes)
	}
	for i := range d.Local {
		ix := &d.Local[i]
		if !slices.ContainsFunc(d.Key, func(e KeyElement) bool { return !e.Hash }) {
			return invalid(wrong +
				"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
		}
		if err := d.checkKey(ix.Key, false); err != nil {
			return err
		}
		if len(ix.Key) < 2 {
			return invalid(wrong+"Index KeySchema does not have a range key for index: %s", ix.Name)
		}
		if ix.Key[0].Name != d.Key[0].Name {
			return invalid(
				wrong+
					"Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. "+
					"index hash key: %s, table hash key: %s",
				ix.Name, ix.Key[0].Name, d.Key[0].Name,
			)
		}

		if err := ix.check(names); err != nil {
			return err
		}
	}
	return nil
}

func (d *Definition) checkGlobal(names map[string]bool) error {
	if len(d.Global) > MaxGlobalIndexes {
		return invalid(wrong+"GlobalSecondaryIndex count exceeds the per-table limit of %d", MaxGlobalIndexes)
	}
	for i := range d.Global {
		ix := &d.Global[i]
		if err := d.checkKey(ix.Key, true); err != nil {
			return err
		}
		if err := ix.check(names); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if names already has the name of the index, or if the projection is invalid. It adds the
// name to names.
func (ix *IndexDefinition) check(names map[string]bool) error {
	if names[ix.Name] {
		return invalid(wrong+"Duplicate index name: %s", ix.Name)
	}
	names[ix.Name] = true
	p := &ix.Projection
	switch {
	case p.Type == "":
		return invalid(wrong + "Unknown ProjectionType: null")
	case p.Type == ProjectInclude && len(p.Include) == 0:
		return invalid(wrong+"ProjectionType is %s, but NonKeyAttributes is not specified", p.Type)
	case p.Type != ProjectInclude && p.Include != nil:
		return invalid(wrong+"ProjectionType is %s, but NonKeyAttributes is specified", p.Type)
	}
	for i, name := range p.Include {
		if slices.Contains(p.Include[:i], name) {
			return invalid(wrong+"Duplicate element in NonKeyAttributes: %s", name)
		}
	}
	return nil
}

// checkProjected returns an error if all indexes together project more attributes than allowed.
func (d *Definition) checkProjected() error {
	n := 0
	for _, ix := range slices.Concat(d.Local, d.Global, d.Vectors) {
		n += len(ix.Projection.Include)
	}
	if n > MaxProjected {
		return invalid(
			wrong+"The total number of NonKeyAttributes in all indexes exceeds the limit of %d: %d", MaxProjected, n,
		)
	}
	return nil
}

// checkUnused returns an error for attribute definitions that no key uses.
func (d *Definition) checkUnused() error {
	used := d.Keys()
	for _, a := range d.Attributes {
		if !used[a.Name] {
			if len(d.Local)+len(d.Global)+len(d.Vectors) == 0 {
				return invalid(wrong +
					"Number of attributes in KeySchema does not exactly match number of " +
					"attributes defined in AttributeDefinitions")
			}
			return invalid(
				wrong+"Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
				attributeNames(d.Attributes), strings.Join(slices.Sorted(maps.Keys(used)), ", "),
			)
		}
	}
	return nil
}

func attributeNames(attrs []keycond.Attribute) string {
	names := make([]string, len(attrs))
	for i, a := range attrs {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}
