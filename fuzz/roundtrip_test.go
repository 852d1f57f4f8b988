package fuzz_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keys"
)

// TestPropertyPutGet tests that Get returns what Put has accepted, for random values of random struct types: those of
// the comparison with the SDK, and types of which the SDK would lose parts.
func TestPropertyPutGet(t *testing.T) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.CreateTable(t.Context(), "Items", "PK"))

	types := map[reflect.Type]bool{} // whether Put has accepted a value, by type
	proptest.Check(t, 20_000, func(t *proptest.T) {
		typ := randomRow(t)
		types[typ] = putGet(t, db, hardValues.random(t, typ, 3)) || types[typ]
	})

	stored := 0
	for _, isStored := range types {
		if isStored {
			stored++
		}
	}
	t.Logf("%d types, of which Put accepted a value of %d", len(types), stored)
	if stored < len(types)/4 {
		t.Error("most types are refused, so the test says little")
	}
}

// putGet puts a row and compares it with what Get returns. It returns false if Put refuses the row.
func putGet(t *proptest.T, db *sortkey.DB, row reflect.Value) bool {
	ctx := context.Background()
	row.FieldByName("PK").SetString("k")
	if err := sortkey.Table[any](db, "Items").Put(ctx, row.Interface()); err != nil {
		if sortkey.StatusOf(err) >= 500 {
			t.Fatalf("Put(%T): %v", row.Interface(), err)
		}
		return false
	}

	it, err := sortkey.Table[attr.Item](db, "Items").Get(ctx, "k")
	if err != nil {
		t.Fatalf("%v", err)
	}
	got := reflect.New(row.Type())
	if err := sortkey.Table[any](db, "Items").Delete(ctx, "k", sortkey.Old(got.Interface())); err != nil {
		t.Fatalf("Put(%#v) made %s\nwhich cannot be decoded: %v", row.Interface(), it.AppendJSON(nil), err)
	}
	if d := differs(row, got.Elem(), ""); d != "" {
		t.Fatalf("Put(%T\n%+v) made %s\nwhich is %+v\n%s", row.Interface(), row, it.AppendJSON(nil), got.Elem(), d)
	}
	return true
}

// randomRow returns a struct type with a key, fields of random types, and some fields of types that are hard to
// store.
func randomRow(t *proptest.T) reflect.Type {
	fields := []reflect.StructField{{Name: "PK", Type: reflect.TypeFor[string]()}}
	for f := range randomStruct(t, 2).Fields() {
		f.Index, f.Offset = nil, 0
		fields = append(fields, f)
	}
	for i := range t.IntN(2) {
		typ := proptest.Pick(t, hardTypes...)
		switch t.IntN(6) {
		case 0:
			typ = reflect.PointerTo(typ)
		case 1:
			typ = reflect.SliceOf(typ)
		case 2:
			typ = reflect.MapOf(proptest.Pick(t, hardKeys...), typ)
		}
		tag := proptest.Pick(t, "", "", "", "", ",omitempty", ",nullempty", ",string", "-", "A", "PK")
		fields = append(fields, reflect.StructField{
			Name: "H" + string(rune('A'+i)), Type: typ, Tag: reflect.StructTag(`dynamodbav:"` + tag + `"`),
		})
	}
	return reflect.StructOf(fields)
}

// Named types that Put accepts as a whole or refuses. Reflection cannot embed those with methods.
type (
	goPrice struct{ cents int64 }
	goLabel struct{ text string }
	goMixed struct {
		Sum   int
		cents int64 //lint:ignore U1000 what nothing reads is lost
	}
	GoAt struct {
		N int
		time.Time
	}
	GoHost struct {
		N int
		netip.Addr
	}
	GoTotal struct {
		*big.Int
		N int
	}
	GoNamed struct {
		time.Time  `dynamodbav:"at"`
		netip.Addr `dynamodbav:"addr"`
		N          int
	}
	GoLocked struct {
		N int
		sync.Mutex
	}
	GoUnlocked struct {
		N          int
		sync.Mutex `dynamodbav:"-"`
	}
	GoDouble struct {
		A int `dynamodbav:"n"`
		B int `dynamodbav:"n"`
	}
	GoMisspelt struct {
		Due time.Time `dynamodbav:"due,unixTime"`
	}
	GoInvisible struct {
		*goInner
		N int
	}
	GoSelf struct {
		*GoSelf
		N int
	}
	GoShadow struct {
		GoBase
		A string
	}
	GoNothing        struct{}
	GoGeneric[T any] struct {
		Value T
		List  []T `dynamodbav:",omitempty"`
	}
)

// MarshalText has no counterpart that decodes the text.
func (l goLabel) MarshalText() ([]byte, error) { return []byte(l.text), nil }

var (
	hardTypes = append(
		typesOf(
			goPrice{}, goLabel{}, goMixed{}, GoAt{}, GoHost{}, GoTotal{}, GoNamed{}, GoDouble{}, GoMisspelt{},
			GoInvisible{}, GoSelf{}, GoShadow{}, GoNothing{}, GoGeneric[string]{}, GoGeneric[[]*GoBase]{},
			GoGeneric[any]{}, time.Time{}, time.Duration(0), time.January, netip.Addr{}, netip.Prefix{}, big.Int{},
			big.Rat{}, url.URL{}, json.RawMessage{}, attr.Value{}, attr.Item{}, keys.Timestamp(""), 1i, uintptr(0),
			[2]byte{}, [2]GoBase{}, [][]string{}, new(any), map[string]any{}, make(chan int), func() {},
		),
		reflect.TypeFor[GoLocked](), reflect.TypeFor[GoUnlocked](), reflect.TypeFor[error](),
		reflect.TypeFor[fmt.Stringer](),
	)
	hardKeys = append(
		typesOf(
			"", 0, 0.5, float32(0), false, goColor(0), goWord(""), goShade(""), goLabel{}, time.Time{}, time.Second,
			time.January, netip.Addr{}, [1]int{}, uintptr(0),
		),
		reflect.TypeFor[any](), reflect.TypeFor[fmt.Stringer](),
	)
)

// hardValues returns values of types without exported fields, and values in interfaces of the types that decoding
// into an interface chooses.
var hardValues = goValues{
	reflect.TypeFor[any]():          func(t *proptest.T) any { return randomAny(t, 2) },
	reflect.TypeFor[goPrice]():      func(t *proptest.T) any { return goPrice{int64(t.IntN(3))} },
	reflect.TypeFor[goLabel]():      func(t *proptest.T) any { return goLabel{randomString(t)} },
	reflect.TypeFor[netip.Addr]():   func(t *proptest.T) any { return randomAddr(t) },
	reflect.TypeFor[big.Int]():      func(t *proptest.T) any { return *big.NewInt(int64(t.Uint64())) },
	reflect.TypeFor[big.Rat]():      func(t *proptest.T) any { return *big.NewRat(int64(t.IntN(9)), int64(1+t.IntN(9))) },
	reflect.TypeFor[attr.Value]():   func(t *proptest.T) any { return attr.NewList(randomStored(t, 2)) },
	reflect.TypeFor[complex128]():   func(t *proptest.T) any { return complex(0, float64(t.IntN(2))) },
	reflect.TypeFor[error]():        func(*proptest.T) any { return errors.New("an error") },
	reflect.TypeFor[fmt.Stringer](): func(t *proptest.T) any { return goColor(t.IntN(3)) },
	reflect.TypeFor[keys.Timestamp](): func(t *proptest.T) any {
		return keys.TimestampOf(time.Unix(int64(t.IntN(1<<30)), int64(t.IntN(1e9))))
	},
	reflect.TypeFor[netip.Prefix](): func(t *proptest.T) any { return netip.PrefixFrom(randomAddr(t), t.IntN(33)) },
	reflect.TypeFor[attr.Item](): func(t *proptest.T) any {
		var b attr.Builder
		b.Add(proptest.Pick(t, goNames...), randomStored(t, 2))
		return b.Item()
	},
	reflect.TypeFor[*url.Userinfo](): func(t *proptest.T) any {
		if t.Bool() {
			return (*url.Userinfo)(nil)
		}
		return url.User(randomString(t))
	},
}

func randomAny(t *proptest.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch t.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return randomString(t)
	case 2:
		return float64(t.IntN(1000)) / 8
	case 3:
		return t.Bool()
	case 4:
		return t.Bytes(1, 3)
	case 5:
		return map[string]any{"a": randomAny(t, depth-1), "b": nil}
	}
	return proptest.SliceOf(t, 1, 3, func(t *proptest.T) any { return randomAny(t, depth-1) })
}

func randomAddr(t *proptest.T) netip.Addr {
	return proptest.Pick(t, netip.Addr{}, netip.MustParseAddr("::1"), netip.AddrFrom4([4]byte(t.Bytes(4, 4))))
}

// differs returns how the value that Get returned differs from the value that was put under a tag, or "". Values with
// the same stored form are equal: nil and a pointer to an empty slice, map or zero value; a time in a zone of another
// name; a number with other digits; a set in another order. Differs ignores fields that are not stored: unexported
// ones, and those that the tag, or a tag of their elements, leaves out.
func differs(put, got reflect.Value, tag string) string {
	if put.IsZero() && got.IsZero() {
		return ""
	}
	texts := func(of func(reflect.Value) string) string {
		if a, b := of(put), of(got); a != b {
			return fmt.Sprintf("%s became %s", a, b)
		}
		return ""
	}
	switch typ := put.Type(); {
	case typ.ConvertibleTo(reflect.TypeFor[time.Time]()):
		if strings.Contains(tag, "unixtime") {
			put = reflect.ValueOf(put.Convert(reflect.TypeFor[time.Time]()).Interface().(time.Time).Truncate(time.Second))
		}
		return texts(textOf)
	case typ.Kind() != reflect.Interface && typ.Kind() != reflect.Pointer && hardValues[typ] != nil:
		return texts(textOf)
	}

	switch put.Kind() {
	case reflect.Pointer:
		return differs(pointed(put), pointed(got), tag)
	case reflect.Interface:
		if put.IsNil() != got.IsNil() {
			return fmt.Sprintf("%v became %v", put, got)
		}
		if strings.Contains(tag, "set") && put.Elem().Kind() == reflect.Slice && got.Elem().Kind() == reflect.Slice {
			return texts(func(v reflect.Value) string { return fmt.Sprint(sorted(v.Elem())) })
		}
		if put.Elem().Type() != got.Elem().Type() {
			return fmt.Sprintf("%T became %T", put.Interface(), got.Interface())
		}
		return differs(put.Elem(), got.Elem(), "")
	case reflect.Struct:
		for i := range put.NumField() {
			f := put.Type().Field(i)
			tag := f.Tag.Get("dynamodbav")
			name, _, _ := strings.Cut(tag, ",")
			if name == "-" || !f.IsExported() && !f.Anonymous || strings.Contains(tag, "emptyelem") {
				continue
			}
			if d := differs(put.Field(i), got.Field(i), tag); d != "" {
				return f.Name + ": " + d
			}
		}
		return ""
	case reflect.Slice, reflect.Array:
		if strings.Contains(tag, "set") || put.Type() == reflect.TypeFor[[][]byte]() {
			return texts(func(v reflect.Value) string { return fmt.Sprint(sorted(v)) })
		}
		if put.Len() != got.Len() {
			return fmt.Sprintf("%v became %v", put, got)
		}
		for i := range put.Len() {
			if d := differs(put.Index(i), got.Index(i), ""); d != "" {
				return fmt.Sprintf("[%d]: %s", i, d)
			}
		}
		return ""
	case reflect.Map:
		if put.Len() != got.Len() {
			return fmt.Sprintf("%v became %v", put, got)
		}
		byText := map[string]reflect.Value{}
		for key, value := range got.Seq2() {
			byText[textOf(key)] = value
		}
		for key, value := range put.Seq2() {
			found, ok := byText[textOf(key)]
			if !ok {
				return fmt.Sprintf("the key %v is lost", key)
			}
			if d := differs(value, found, ""); d != "" {
				return fmt.Sprintf("%v: %s", key, d)
			}
		}
		return ""
	case reflect.String:
		return texts(func(v reflect.Value) string {
			if _, ok := v.Interface().(interface{ Float64() (float64, error) }); ok {
				if r, ok := new(big.Rat).SetString(v.String()); ok {
					return r.String()
				}
			}
			return strconv.Quote(v.String())
		})
	}
	isNaN := put.CanFloat() && math.IsNaN(put.Float()) && math.IsNaN(got.Float())
	if !put.Equal(got) && !isNaN {
		return fmt.Sprintf("%v became %v", put, got)
	}
	return ""
}

// textOf returns the text of a value, by a method of its pointer type if there is one.
func textOf(v reflect.Value) string {
	if asTime := reflect.TypeFor[time.Time](); v.CanConvert(asTime) {
		return v.Convert(asTime).Interface().(time.Time).UTC().Format(time.RFC3339Nano)
	}
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	if s, ok := at.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprint(v)
}

// pointed returns the value that a pointer points to, or a zero value for nil.
func pointed(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return reflect.Zero(v.Type().Elem())
	}
	return v.Elem()
}

// sorted returns the texts of the elements of a set, sorted.
func sorted(set reflect.Value) []string {
	list := make([]string, set.Len())
	for i := range list {
		v := set.Index(i)
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		list[i] = textOf(v)
	}
	slices.Sort(list)
	return list
}
