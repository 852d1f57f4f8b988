package attr

import (
	"reflect"
	"slices"

	"github.com/sortkey/sortkey/internal/untagged"
)

func init() { untagged.Times, untagged.Has = untaggedTimes, hasUntaggedTimes }

// hasUntaggedTimes reports whether untaggedTimes may return a name for a value of a type.
func hasUntaggedTimes(t reflect.Type) bool {
	p := planOf(t)
	for range MaxNesting {
		if p.form != formPointer {
			break
		}
		p = p.elem
	}
	switch p.form {
	case formStruct:
		return slices.ContainsFunc(p.fields, func(f field) bool {
			return !f.options.has(asUnixTime) && f.plan.mayBeTime()
		})
	case formMap:
		return p.elem.mayBeTime()
	}
	return p.form == formInterface || p.form == formPointer
}

// untaggedTimes returns the names of the attributes of the item that v is stored as whose values
// are times written as text. Such text does not sort as the times do.
func untaggedTimes(v any) (names []string) {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() {
		return nil
	}
	switch p := planOf(value.Type()); {
	case p.marshals:
	case p.form == formStruct:
		for i := range p.fields {
			f := &p.fields[i]
			if f.options.has(asUnixTime) || !f.plan.mayBeTime() {
				continue
			}
			if field, ok := f.in(value, false); ok && isTime(field) {
				names = append(names, string(p.name(i)))
			}
		}
	case p.form == formMap && p.elem.mayBeTime():
		for entries := value.MapRange(); entries.Next(); {
			if isTime(entries.Value()) && entries.Key().Kind() == reflect.String {
				names = append(names, entries.Key().String())
			}
		}
	}

	return names
}

// mayBeTime reports whether values of the plan's type may be times, or hold one.
func (p *plan) mayBeTime() bool {
	for range MaxNesting {
		if p.form != formPointer {
			break
		}
		p = p.elem
	}
	return p.form == formInterface || p.form == formTime && !p.marshals
}

// isTime reports whether a value is a time, or holds one.
func isTime(v reflect.Value) bool {
	for range MaxNesting {
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			break
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		return false
	}
	p := planOf(v.Type())
	return p.form == formTime && !p.marshals
}
