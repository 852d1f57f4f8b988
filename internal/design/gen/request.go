package gen

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/wire"
)

// A member is a member of a request. Its value is a string, an enum, a bool, an int64 or a map. A map is a
// map[string]string, an [attr.Item] or a placedValues.
type member struct {
	Name  string
	value any
}

// A placedValues maps placeholders to values. all has a value for every placeholder. If a placeholder is also in
// given, generated code uses the operand there instead.
type placedValues struct {
	all   attr.Item
	given map[string]operand
}

// An enum is a value of an enumeration. In the SDK for Go, the enumeration's type has the same name as the member.
type enum string

// enums are the members whose value is an enum.
var enums = []string{"ReturnConsumedCapacity", "Select"}

// legacyMembers are the members that expressions have replaced. Source: DG/LegacyConditionalParameters.html.
var legacyMembers = []string{"KeyConditions", "QueryFilter", "ScanFilter", "ConditionalOperator", "AttributesToGet"}

// legacy returns an error if a request has a legacy member. The generator writes only expressions.
func legacy(in wire.Request) error {
	for _, m := range membersOf(in) {
		if slices.Contains(legacyMembers, m.Name) {
			return fmt.Errorf("%s is a legacy parameter: write it as an expression", m.Name)
		}
	}
	return nil
}

// hasMember reports whether requests of the operation can have the named member.
func hasMember(in wire.Request, name string) bool {
	field, ok := reflect.TypeOf(in).Elem().FieldByName(name)
	return ok && field.Type != reflect.TypeFor[wire.Faults]()
}

// membersOf returns the members that a request has, in their usual order.
func membersOf(in wire.Request) []member {
	var all []member
	v := reflect.ValueOf(in).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !hasMember(in, name) || v.Field(i).IsNil() {
			continue
		}
		value := v.Field(i).Interface()
		switch of := value.(type) {
		case *string:
			value = *of
			if slices.Contains(enums, name) {
				value = enum(*of)
			}
		case *bool:
			value = *of
		case *int64:
			value = *of
		}
		all = append(all, member{name, value})
	}
	slices.SortStableFunc(all, func(a, b member) int { return compile.Order(a.Name, b.Name) })
	return all
}

// entries returns the entries of a map as code, ordered by name. It returns false if value is not a map.
func entries(value any, entry func(name string, v any) string) (all []string, ok bool) {
	switch of := value.(type) {
	case map[string]string:
		for _, name := range slices.Sorted(maps.Keys(of)) {
			all = append(all, entry(name, of[name]))
		}
	case attr.Item:
		for name, v := range of.All() {
			all = append(all, entry(string(name), v))
		}
	case placedValues:
		for name, v := range of.all.All() {
			if o, ok := of.given[string(name)]; ok {
				all = append(all, entry(string(name), o))
			} else {
				all = append(all, entry(string(name), v))
			}
		}
	default:
		return nil, false
	}
	return all, true
}
