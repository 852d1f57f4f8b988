package fuzz_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestPropertyMarshal compares attr.MarshalItem with MarshalMap of the AWS SDK, on random values of random types.
// Both must store the same item, or both must refuse the value. Attr may also refuse what the SDK would lose
// ([refusesLoss]).
func TestPropertyMarshal(t *testing.T) {
	proptest.Check(t, 20_000, func(t *proptest.T) {
		v := randomGo(t, randomStruct(t, 3), 3)
		compareMarshal(t, v)
	})
}

// TestPropertyUnmarshal compares attr.UnmarshalItem with UnmarshalMap of the AWS SDK, on random items and on items
// made from a value of the same type and then changed in places. Both must return equal values, or both must refuse
// the item.
func TestPropertyUnmarshal(t *testing.T) {
	proptest.Check(t, 20_000, func(t *proptest.T) {
		typ := randomStruct(t, 3)
		members := map[string]attr.Value{}
		if t.Often(80) {
			it, _ := attr.MarshalItem(randomGo(t, typ, 3).Interface())
			for name, v := range it.All() {
				members[string(name)] = v
			}
		}
		for range t.IntN(3) {
			names := goNames
			if stored := slices.Sorted(maps.Keys(members)); len(stored) > 0 && t.Bool() {
				names = stored
			}
			members[proptest.Pick(t, names...)] = randomStored(t, 3)
		}
		compareUnmarshal(t, typ, withoutTwins(members))
	})
}

// FuzzMarshal runs both properties as a native fuzz target.
func FuzzMarshal(f *testing.F) {
	proptest.Fuzz(f, func(t *proptest.T) {
		typ := randomStruct(t, 3)
		it := compareMarshal(t, randomGo(t, typ, 3))
		compareUnmarshal(t, typ, it)
	})
}

// compareMarshal compares what both libraries store for v, and returns the item. It returns nil if both refuse v.
func compareMarshal(t *proptest.T, v reflect.Value) attr.Item {
	want, wantErr := sdkMarshal(v.Interface())
	if e, ok := errors.AsType[*attr.Error](wantErr); ok && strings.HasSuffix(e.Msg, "not be empty") {
		return nil // DynamoDB refuses an empty set; attr stores NULL
	}
	got, err := attr.MarshalItem(v.Interface())
	if refusesLoss(err) {
		return nil
	}
	if (err == nil) != (wantErr == nil) || !got.Equal(want) {
		t.Fatalf("%T\n%+v\n= %s, %v\nwant %s, %v",
			v.Interface(), v, got.AppendJSON(nil), err, want.AppendJSON(nil), wantErr)
	}
	return got
}

func compareUnmarshal(t *proptest.T, typ reflect.Type, it attr.Item) {
	if bytes.Contains(it, []byte("NaN")) {
		return // it is not equal to itself
	}
	want, got := reflect.New(typ), reflect.New(typ)
	wantErr := sdkUnmarshal(it, want.Interface())
	err := attr.UnmarshalItem(it, got.Interface())
	if refusesLoss(err) {
		return
	}
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got.Interface(), want.Interface()) {
		t.Fatalf("%s\ninto %v\n= %s, %v\nwant %s, %v", it.AppendJSON(nil), typ, asJSON(got), err, asJSON(want), wantErr)
	}
}

// refusesLoss reports whether err is one of attr's errors for values that Put could store but Get could not return.
// The SDK has no such errors: it stores less than the value, or panics when it decodes what it has stored.
func refusesLoss(err error) bool {
	e, ok := errors.AsType[*attr.ConvertError](err)
	return ok && slices.ContainsFunc([]string{
		"values of this type are not stored", "it has no exported fields", "would be lost", "two fields have the name",
		"which holds a value", "decoding cannot", "has the unknown option", "the option string of field",
	}, func(loss string) bool { return strings.Contains(e.Msg, loss) })
}

// asJSON returns v as JSON for a report, because JSON shows what pointers point to.
func asJSON(v reflect.Value) string {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(text)
}

// sdkMarshal returns the item that the SDK sends for v. The error may be that of the SDK, a panic of the SDK, or that
// of DynamoDB, which refuses what the SDK sends.
func sdkMarshal(v any) (it attr.Item, err error) {
	defer recovered(&err)
	m, err := attributevalue.MarshalMap(v)
	if err != nil {
		return nil, err
	}
	return sdkvalue.Item(m)
}

func sdkUnmarshal(it attr.Item, dst any) (err error) {
	defer recovered(&err)
	return attributevalue.UnmarshalMap(sdkvalue.Of(it), dst)
}

func recovered(err *error) {
	if e := recover(); e != nil {
		*err = fmt.Errorf("panic: %v", e)
	}
}

// withoutTwins returns an item of the members, without names that differ only in case: in the SDK the random order of
// a map decides which of these a field gets.
func withoutTwins(members map[string]attr.Value) attr.Item {
	var b attr.Builder
	seen := map[string]bool{}
	for name, v := range members {
		if folded := strings.ToLower(name); !seen[folded] {
			seen[folded] = true
			b.Add(name, v)
		}
	}
	return b.Item()
}

// Named types, some with methods, for random structs.
type (
	goName   string
	goAge    int8
	goShare  float32
	goFlag   bool
	goBits   []byte
	goWhen   time.Time
	goColor  int
	goWord   string
	goShade  string
	goList   []string
	goBlobs  [][]byte
	goLookup map[string]int

	GoBase struct {
		ID   string `dynamodbav:"id"`
		Note *string
		A    int
	}
	goInner struct {
		B int `dynamodbav:"b,omitempty"`
		A string
	}
	GoOuter struct {
		GoBase
		*GoDeep
		goInner `dynamodbav:"inner"`
		C       []GoBase `dynamodbav:"c"`
	}
	GoDeep struct {
		GoBase
		D any
	}
	GoTwins struct {
		GoLeft
		GoRight
	}
	GoLeft struct {
		GoBase
		X int `dynamodbav:"x"`
		Y int
	}
	GoRight struct {
		GoBase
		X int
		Y int
	}
	GoNode struct {
		Value int
		Next  *GoNode
		Kids  []GoNode `dynamodbav:",omitempty"`
	}
)

// String returns the text that the SDK uses for keys of maps.
func (c goColor) String() string { return fmt.Sprintf("color-%d", int(c)) }

func (s goShade) String() string { return "shade-" + string(s) }

// Both libraries use MarshalText and UnmarshalText only for keys of maps.
func (w goWord) MarshalText() ([]byte, error) { return []byte("<" + string(w) + ">"), nil }

func (w *goWord) UnmarshalText(text []byte) error {
	if len(text) < 2 {
		return fmt.Errorf("%q is too short", text)
	}
	*w = goWord(text[1 : len(text)-1])
	return nil
}

var (
	goScalars = append(
		typesOf(
			"", 0, false, 0.5, []byte(nil), int8(0), int16(0), int32(0), int64(0),
			uint(0), uint8(0), uint16(0), uint32(0), uint64(0), float32(0),
			time.Time{}, json.Number(""), attributevalue.Number(""),
			goName(""), goAge(0), goShare(0), goFlag(false), goBits(nil), goWhen{}, goColor(0), goWord(""),
			[3]byte{}, [0]int{}, make(chan int), complex64(0), func() {}, uintptr(0), struct{}{},
		),
		reflect.TypeFor[any](),
	)
	goDocuments = typesOf(
		[]string(nil), [][]byte(nil), goList(nil), goBlobs(nil), goLookup(nil), map[string]any(nil),
		GoBase{}, GoOuter{}, GoTwins{}, GoNode{},
	)
	goKeys   = typesOf("", 0, uint8(0), false, 0.5, goName(""), goColor(0), goWord(""), goShade(""))
	goEmbeds = typesOf(GoBase{}, GoNode{}, GoTwins{})
	goNames  = []string{"A", "B", "C", "D", "a", "b", "id", "iD", "ID", "Note", "x", "Y", "inner", "GOBASE", "Value", "next", "c"}
)

func typesOf(values ...any) []reflect.Type {
	types := make([]reflect.Type, len(values))
	for i, v := range values {
		types[i] = reflect.TypeOf(v)
	}
	return types
}

// randomType returns a type of at most depth levels. It returns no pointers to interfaces, which the SDK leaves out,
// and no named slices of bytes, for which the SDK panics.
func randomType(t *proptest.T, depth int) reflect.Type {
	if depth == 0 {
		return proptest.Pick(t, goScalars...)
	}
	switch t.IntN(9) {
	default:
		return proptest.Pick(t, goScalars...)
	case 3:
		return proptest.Pick(t, goDocuments...)
	case 4:
		elem := randomType(t, depth-1)
		if elem.Kind() == reflect.Interface {
			return elem
		}
		if t.Often(30) {
			elem = reflect.PointerTo(elem)
		}
		return reflect.PointerTo(elem)
	case 5:
		return reflect.SliceOf(randomType(t, depth-1))
	case 6:
		return reflect.ArrayOf(t.IntN(3), randomType(t, depth-1))
	case 7:
		return reflect.MapOf(proptest.Pick(t, goKeys...), randomType(t, depth-1))
	case 8:
		return randomStruct(t, depth-1)
	}
}

// randomStruct returns a struct type with random fields and tags. Some fields are embedded.
func randomStruct(t *proptest.T, depth int) reflect.Type {
	var fields []reflect.StructField
	for i := range t.IntN(5) {
		f := reflect.StructField{Name: string(rune('A' + i)), Type: randomType(t, max(depth, 0))}
		if t.Often(15) {
			f.Type, f.Anonymous = proptest.Pick(t, goEmbeds...), true
			if t.Bool() {
				f.Type = reflect.PointerTo(f.Type)
			}
		}
		f.Tag = reflect.StructTag(`dynamodbav:"` + randomTag(t) + `"`)
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

func randomTag(t *proptest.T) string {
	tag := ""
	if t.Often(30) {
		tag = proptest.Pick(t, append(goNames, "-")...)
	}
	for _, option := range []string{
		"omitempty", "nullempty", "string", "unixtime", "omitemptyelem", "nullemptyelem",
		proptest.Pick(t, "stringset", "numberset", "binaryset"),
	} {
		if t.Often(15) {
			tag += "," + option
		}
	}
	if t.Often(2) {
		tag += ",unknown"
	}
	return tag
}

// goValues are functions that return random values of a type.
type goValues map[reflect.Type]func(*proptest.T) any

// randomGo returns a random value of a type. Depth limits the levels of interfaces and recursive types.
func randomGo(t *proptest.T, typ reflect.Type, depth int) reflect.Value {
	return goValues(nil).random(t, typ, depth)
}

// random is randomGo, but takes values of the types in g from there.
func (g goValues) random(t *proptest.T, typ reflect.Type, depth int) reflect.Value {
	v := reflect.New(typ).Elem()
	if of := g[typ]; of != nil {
		if made := of(t); made != nil {
			v.Set(reflect.ValueOf(made))
		}
		return v
	}
	if typ.ConvertibleTo(reflect.TypeFor[time.Time]()) {
		v.Set(reflect.ValueOf(randomTime(t)).Convert(typ))
		return v
	}
	switch typ.Kind() {
	case reflect.Bool:
		v.SetBool(t.Bool())
	case reflect.String:
		v.SetString(randomString(t))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(t.Uint64()) >> (t.IntN(8) * 8))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(t.Uint64() >> (t.IntN(8) * 8))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(randomFloat(t))
	case reflect.Pointer:
		if depth >= 0 && t.Often(70) {
			v.Set(reflect.New(typ.Elem()))
			v.Elem().Set(g.random(t, typ.Elem(), depth-1))
		}
	case reflect.Interface:
		if depth > 0 && t.Often(70) {
			v.Set(g.random(t, randomType(t, depth-1), depth-1))
		}
	case reflect.Slice:
		if t.Often(80) {
			v.Set(reflect.MakeSlice(typ, t.IntN(max(depth+2, 1)), 8))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(g.random(t, typ.Elem(), depth-1))
		}
	case reflect.Map:
		if t.Often(80) {
			v.Set(reflect.MakeMap(typ))
			for range t.IntN(max(depth+2, 1)) {
				// Leave out NaN keys: NaN is not equal to itself, so the SDK cannot look up their values.
				if key := g.random(t, typ.Key(), 0); key.Comparable() && key.Equal(key) {
					v.SetMapIndex(key, g.random(t, typ.Elem(), depth-1))
				}
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				f.Set(g.random(t, f.Type(), depth-1))
			}
		}
	}
	return v
}

func randomTime(t *proptest.T) time.Time {
	at := time.Unix(int64(t.Uint64()>>30)-1<<33, int64(t.IntN(3)*1_500_000)).UTC()
	switch t.IntN(4) {
	case 0:
		return time.Time{}
	case 1:
		return at.In(time.FixedZone("", t.Between(-12, 12)*1800))
	}
	return at
}

func randomString(t *proptest.T) string {
	return proptest.Pick(t,
		"", "x", "7", "-0.5", "1e3", "300", "18446744073709551616", "1e200", "true", "<word>", "color-3",
		"2024-02-29T01:02:03.5+02:00", "AA==", "\u0080", t.AnyText(0, 5))
}

func randomFloat(t *proptest.T) float64 {
	return proptest.Pick(t,
		0, 1, math.Copysign(0, -1), -1.5, 0.1, 1e21, 1e-7, 1e40, 1e300, 5e-324, math.NaN(), math.Inf(1),
		float64(int64(t.Uint64())), 1/(float64(t.IntN(8))+1),
	)
}

// randomStored returns a random stored value of any kind.
func randomStored(t *proptest.T, depth int) attr.Value {
	if depth == 0 || t.Often(60) {
		switch t.IntN(6) {
		case 0:
			return attr.NewNull()
		case 1:
			return attr.NewBool(t.Bool())
		case 2:
			return attr.NewBinary(t.Bytes(0, 4))
		case 3:
			return attr.NewString(randomString(t))
		}
		n, err := attr.NewNumber(proptest.Pick(t,
			"0", "1", "-1", "127", "300", "0.5", "1e19", "18446744073709551615", "1e100", "1700000000",
		))
		if err != nil {
			t.Fatalf("%v", err)
		}
		return n
	}

	switch t.IntN(3) {
	case 0:
		var b attr.Builder
		seen := ""
		for range t.IntN(4) {
			// No two of these names differ only in case; see withoutTwins.
			if name := proptest.Pick(t, "A", "b", "id", "7", "true", "2.5", "<w>", "next"); !strings.Contains(seen, name) {
				seen += name
				b.Add(name, randomStored(t, depth-1))
			}
		}
		return attr.NewMap(b.Item())
	case 1:
		element := func(t *proptest.T) attr.Value { return randomStored(t, depth-1) }
		return attr.NewList(proptest.SliceOf(t, 0, 3, element)...)
	}
	kind := proptest.Pick(t, attr.StringSet, attr.NumberSet, attr.BinarySet)
	elems := proptest.SliceOf(t, 1, 3, func(t *proptest.T) attr.Value {
		switch kind {
		case attr.StringSet:
			return attr.NewString(randomString(t))
		case attr.BinarySet:
			return attr.NewBinary(t.Bytes(0, 2))
		}
		n, err := attr.NewNumber(proptest.Pick(t, "0", "1", "-1", "300", "0.5", "1e19"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		return n
	})
	set, err := attr.NewSet(kind, elems...)
	if err != nil { // two elements are equal
		return elems[0]
	}
	return set
}
