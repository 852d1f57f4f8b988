package fuzz_test

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// A kind is the type of a model value, as one letter.
type kind byte

const (
	isBool kind = 'T'
	isNull kind = '0'
	isList kind = 'L'
	isMap  kind = 'M'
)

// wireNames are the names of kinds in requests.
var wireNames = map[kind]string{
	'S': "S", 'N': "N", 'B': "B", isBool: "BOOL", isNull: "NULL", isList: "L", isMap: "M",
	's': "SS", 'n': "NS", 'b': "BS",
}

func (k kind) String() string { return wireNames[k] }

// scalar reports whether the kind is S, N or B, whose values have an order and can be keys.
func (k kind) scalar() bool { return k == 'S' || k == 'N' || k == 'B' }

// set reports whether the kind is a set. Its elements are of the kind k.element().
func (k kind) set() bool { return k == 's' || k == 'n' || k == 'b' }

func (k kind) element() kind { return k - 'a' + 'A' }

// A value is an immutable attribute value of the model.
type value struct {
	kind kind
	// data is the bytes of an S or B, the text of an N as requests write it, or true or false for a BOOL.
	data    string
	num     *apd.Decimal // of an N
	list    []value      // of an L or a set
	members item         // of an M
}

// An item is an item or a key of the model, or the members of a map.
type item map[string]value

func text(s string) value { return value{kind: 'S', data: s} }
func blob(s string) value { return value{kind: 'B', data: s} }

// other returns the value with this DynamoDB JSON.
func other(text string) (v value) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

// number returns the N with this text, which apd must be able to parse.
func number(s string) value {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		panic(err)
	}
	return value{kind: 'N', data: s, num: d}
}

// compare orders two values of one kind.
func compare(a, b value) int {
	if a.kind != b.kind {
		panic("values of two kinds have no order")
	}
	if a.kind == 'N' {
		return a.num.Cmp(b.num)
	}
	return bytes.Compare([]byte(a.data), []byte(b.data))
}

func equal(a, b value) bool { return a.kind == b.kind && a.canon() == b.canon() }

// hasPrefix reports whether v begins with p.
func hasPrefix(v, p value) bool {
	if v.kind != p.kind {
		return false
	}
	switch v.kind {
	case 'S':
		return strings.HasPrefix(v.data, p.data)
	case 'B':
		return bytes.HasPrefix([]byte(v.data), []byte(p.data))
	}
	return false
}

// digits returns the significant digits of a number and the position of the
// decimal point: 0.digits × 10^point.
func digits(d *apd.Decimal) (text string, point int) {
	if d.IsZero() {
		return "", 0
	}
	all := d.Coeff.String()
	return strings.TrimRight(all, "0"), len(all) + int(d.Exponent)
}

// plain returns the text of a number as DynamoDB prints it.
func plain(d *apd.Decimal) string {
	ds, point := digits(d)
	if ds == "" {
		return "0"
	}
	var out string
	switch {
	case point <= 0:
		out = "0." + strings.Repeat("0", -point) + ds
	case point >= len(ds):
		out = ds + strings.Repeat("0", point-len(ds))
	default:
		out = ds[:point] + "." + ds[point:]
	}
	if d.Negative {
		out = "-" + out
	}
	return out
}

// canon returns the value as responses print it. Equal values have equal texts.
func (v value) canon() string {
	switch {
	case v.kind == 'N':
		return "N:" + plain(v.num)
	case v.kind == isMap:
		return "M:{" + v.members.canon() + "}"
	case v.kind == isList || v.kind.set():
		parts := make([]string, len(v.list))
		for i, e := range v.list {
			parts[i] = e.canon()
		}
		if v.kind.set() {
			slices.Sort(parts)
		}
		return fmt.Sprintf("%s:%q", v.kind, parts)
	}
	return v.kind.String() + ":" + v.data
}

// printed returns the value with all numbers as DynamoDB prints them.
func (v value) printed() value {
	switch {
	case v.kind == 'N':
		v.data = plain(v.num)
	case v.kind == isMap:
		v.members = v.members.printed()
	case v.list != nil:
		v.list = slices.Clone(v.list)
		for i, e := range v.list {
			v.list[i] = e.printed()
		}
	}
	return v
}

func (it item) printed() item {
	if it == nil {
		return nil
	}
	out := make(item, len(it))
	for name, v := range it {
		out[name] = v.printed()
	}
	return out
}

// wire returns the value in DynamoDB JSON.
func (v value) wire() json.RawMessage { return marshal(map[string]any{v.kind.String(): v.inner()}) }

// inner returns the part of DynamoDB JSON inside the kind: "x" of {"S":"x"}.
func (v value) inner() any {
	switch {
	case v.kind == 'B':
		return []byte(v.data)
	case v.kind == isNull:
		return true
	case v.kind == isBool:
		return v.data == "true"
	case v.kind == isMap:
		return v.members.wire()
	case v.kind == isList:
		out := make([]json.RawMessage, len(v.list))
		for i, e := range v.list {
			out[i] = e.wire()
		}
		return out
	case v.kind.set():
		out := make([]any, len(v.list))
		for i, e := range v.list {
			out[i] = e.inner()
		}
		return out
	}
	return v.data
}

func marshal(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// size returns the documented size in bytes, without the name.
func (v value) size() int {
	size := 0
	switch {
	case v.kind == 'N':
		return numberSize(v.num)
	case v.kind == isBool || v.kind == isNull:
		return 1
	case v.kind == isMap:
		return 3 + len(v.members) + v.members.size()
	case v.kind == isList:
		size = 3 + len(v.list)
	}
	for _, e := range v.list {
		size += e.size()
	}
	return size + len(v.data)
}

// numberSize returns the size of a number: 1, plus 1 for every two significant digits, rounded up, on either side of
// the point, plus 1 for a minus sign.
func numberSize(d *apd.Decimal) int {
	ds, point := digits(d)
	if ds == "" {
		return 1
	}
	whole := min(max(point, 0), len(ds))
	size := 1 + (whole+1)/2 + (len(ds)-whole+1)/2
	if d.Negative {
		size++
	}
	return size
}

// UnmarshalJSON parses a value in DynamoDB JSON. It refuses a number that is not in the form in which DynamoDB prints
// it.
func (v *value) UnmarshalJSON(raw []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || len(m) != 1 {
		return fmt.Errorf("%q is not an attribute value: %w", raw, err)
	}
	for k, name := range wireNames {
		if inner, ok := m[name]; ok {
			v.kind = k
			return v.parse(inner)
		}
	}
	return fmt.Errorf("%q is not an attribute value", raw)
}

// parse parses the part of DynamoDB JSON inside the kind: "x" of {"S":"x"}.
func (v *value) parse(raw json.RawMessage) (err error) {
	switch k := v.kind; {
	case k == 'S':
		return json.Unmarshal(raw, &v.data)
	case k == 'N':
		if err = json.Unmarshal(raw, &v.data); err != nil {
			return err
		}
		v.num, _, err = apd.NewFromString(v.data)
		if err != nil || plain(v.num) != v.data {
			return fmt.Errorf("%q is not how the service prints a number: %w", v.data, err)
		}
	case k == 'B':
		var b []byte
		err = json.Unmarshal(raw, &b)
		v.data = string(b)
	case k == isBool:
		v.data = string(raw)
	case k == isMap:
		return json.Unmarshal(raw, &v.members)
	case k == isList:
		return json.Unmarshal(raw, &v.list)
	case k.set():
		var all []json.RawMessage
		if err = json.Unmarshal(raw, &all); err != nil {
			return err
		}
		for _, e := range all {
			of := value{kind: k.element()}
			if err := of.parse(e); err != nil {
				return err
			}
			v.list = append(v.list, of)
		}
	}
	return err
}

// canon returns the text of an item. Equal items have equal texts.
func (it item) canon() string {
	if it == nil {
		return "none"
	}
	var out strings.Builder
	for _, name := range sortedNames(it) {
		fmt.Fprintf(&out, "%q=%q ", name, it[name].canon())
	}
	return out.String()
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// wire returns the item in DynamoDB JSON.
func (it item) wire() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(it))
	for name, v := range it {
		out[name] = v.wire()
	}
	return out
}

// size returns the documented size, including names.
func (it item) size() int {
	size := 0
	for name, v := range it {
		size += len(name) + v.size()
	}
	return size
}

// only returns a copy of the item with only the named attributes.
func (it item) only(names []string) item {
	out := item{}
	for _, name := range names {
		if v, ok := it[name]; ok {
			out[name] = v
		}
	}
	return out
}

// scanHash returns the position of a partition key in scan order. In an index it orders items with equal index keys,
// by the whole key of the table. It is the first three bytes of MD5("Outliers" + key).
func scanHash(key ...value) uint32 {
	text := []byte("Outliers")
	for _, v := range key {
		if v.kind == 'N' {
			text = append(text, hashedNumber(v.num)...)
		} else {
			text = append(text, v.data...)
		}
	}
	sum := md5.Sum(text)
	return uint32(sum[0])<<16 | uint32(sum[1])<<8 | uint32(sum[2])
}

// hashedNumber returns the form of a number that DynamoDB hashes, as the authors of other emulators found out: an
// exponent byte, then pairs of digits plus one. For a negative number all bytes are mirrored, followed by 102 if
// there is space.
func hashedNumber(d *apd.Decimal) []byte {
	ds, point := digits(d)
	if ds == "" {
		return []byte{0x80}
	}
	if point&1 != 0 {
		ds, point = "0"+ds, point+1
	}
	if len(ds)%2 != 0 {
		ds += "0"
	}
	out := []byte{byte(point/2 - 64)}
	for i := 0; i < len(ds); i += 2 {
		out = append(out, (ds[i]-'0')*10+ds[i+1]-'0'+1)
	}
	if d.Negative {
		out[0] ^= 0xFF
		for i := range out[1:] {
			out[1+i] = 102 - out[1+i]
		}
		if len(out) < 21 {
			out = append(out, 102)
		}
	}
	return out
}
