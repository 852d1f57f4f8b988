package fuzz_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// kind is the kind of a model value: 'S', 'N', 'B', or 'X' for all others.
type kind byte

func (k kind) String() string { return string(rune(k)) }

// A value is an attribute value of the model.
type value struct {
	kind kind
	// data is the bytes of an S or B, the text of an N as it is written in
	// requests, and the wire form of an X.
	data string
	num  *apd.Decimal // of an N
}

// An item is an item of the model, or its key.
type item map[string]value

func text(s string) value     { return value{kind: 'S', data: s} }
func blob(s string) value     { return value{kind: 'B', data: s} }
func other(json string) value { return value{kind: 'X', data: json} }

// number returns the N with the given text, which apd must be able to parse.
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

// plain returns a number as the service prints it.
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

// canon returns a text that is equal for equal values, in the form of
// responses.
func (v value) canon() string {
	switch v.kind {
	case 'N':
		return "N:" + plain(v.num)
	case 'X':
		return "X:" + canonJSON(v.data)
	}
	return string(rune(v.kind)) + ":" + v.data
}

// wire returns the value in DynamoDB JSON.
func (v value) wire() json.RawMessage {
	switch v.kind {
	case 'S':
		return marshal(map[string]string{"S": v.data})
	case 'N':
		return marshal(map[string]string{"N": v.data})
	case 'B':
		return marshal(map[string][]byte{"B": []byte(v.data)})
	}
	return json.RawMessage(v.data)
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
	switch v.kind {
	case 'N':
		return numberSize(v.num)
	case 'X':
		var doc any
		if err := json.Unmarshal([]byte(v.data), &doc); err != nil {
			panic(err)
		}
		return documentSize(doc)
	}
	return len(v.data)
}

// numberSize is 1, plus 1 for every two significant digits, rounded up, on
// either side of the point, plus 1 for a minus sign.
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

// documentSize is the documented size of a value in wire form.
func documentSize(doc any) int {
	for k, v := range doc.(map[string]any) {
		switch k {
		case "S":
			return len(v.(string))
		case "N":
			return number(v.(string)).size()
		case "B":
			b, _ := base64.StdEncoding.DecodeString(v.(string))
			return len(b)
		case "BOOL", "NULL":
			return 1
		}
		size := 0
		switch k {
		case "L":
			for _, e := range v.([]any) {
				size += 1 + documentSize(e)
			}
			return size + 3
		case "M":
			for name, e := range v.(map[string]any) {
				size += 1 + len(name) + documentSize(e)
			}
			return size + 3
		}
		for _, e := range v.([]any) { // a set
			size += documentSize(map[string]any{k[:1]: e})
		}
		return size
	}
	return 0
}

// canonJSON returns the wire form of a value with sorted members, including
// those of sets.
func canonJSON(raw string) string {
	var doc any
	if err := json.Unmarshal([]byte(raw), &doc); err != nil {
		return "not JSON: " + raw
	}
	return string(marshal(sortSets(doc)))
}

func sortSets(doc any) any {
	switch doc := doc.(type) {
	case map[string]any:
		for k, v := range doc {
			if list, ok := v.([]any); ok && (k == "SS" || k == "NS" || k == "BS") {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				continue
			}
			doc[k] = sortSets(v)
		}
	case []any:
		for i := range doc {
			doc[i] = sortSets(doc[i])
		}
	}
	return doc
}

// parseValue parses a value of a response.
func parseValue(raw json.RawMessage) (value, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || len(m) != 1 {
		return value{}, fmt.Errorf("%q is not an attribute value: %w", raw, err)
	}
	var s string
	for k, v := range m {
		switch k {
		case "S", "N":
			if err := json.Unmarshal(v, &s); err != nil {
				return value{}, err
			}
			if k == "S" {
				return text(s), nil
			}
			d, _, err := apd.NewFromString(s)
			if err != nil || plain(d) != s {
				return value{}, fmt.Errorf("%q is not how the service prints a number: %w", s, err)
			}
			return value{kind: 'N', data: s, num: d}, nil
		case "B":
			var b []byte
			if err := json.Unmarshal(v, &b); err != nil {
				return value{}, err
			}
			return blob(string(b)), nil
		}
	}
	return other(string(raw)), nil
}

func parseItem(m map[string]json.RawMessage) (item, error) {
	if m == nil {
		return nil, nil
	}
	it := make(item, len(m))
	for name, raw := range m {
		v, err := parseValue(raw)
		if err != nil {
			return nil, err
		}
		it[name] = v
	}
	return it, nil
}

// canon returns a text that is equal for equal items.
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

// only returns the item with only the named attributes.
func (it item) only(names []string) item {
	out := item{}
	for _, name := range names {
		if v, ok := it[name]; ok {
			out[name] = v
		}
	}
	return out
}

// scanHash returns the place of a partition key in scan order, and that of a
// table's whole key among equal keys of an index: the first three bytes of
// MD5("Outliers" + key).
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

// hashedNumber returns the form of a number that the service hashes, as the
// authors of other emulators found: an exponent byte, then pairs of digits plus
// one. For negative numbers all of it is mirrored, and ends in 102 if there is
// space.
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
