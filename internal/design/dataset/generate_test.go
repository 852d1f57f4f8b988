package dataset_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// build builds the dataset of a model with one table and the given text.
func build(t *testing.T, rest string, o dataset.Options) (*dataset.Dataset, error) {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte("name: m\nseed: 1\ntables: {Tab: {partition: PK, sort: SK}}\n"+rest))
	if err != nil {
		return nil, err
	}
	w, err := dataset.Build(t.Context(), m, o)
	if err == nil {
		t.Cleanup(func() { w.Close() })
	}
	return w, err
}

func generated(t *testing.T, field, decl string, count int) []string {
	t.Helper()
	w, err := build(t, fmt.Sprintf("entities: {E: {fields: {%s: %s, u: uuid}, attributes: {PK: \"{u}\", SK: \"S#{%s}\"}, count: %d}}\n", field, decl, field, count), dataset.Options{})
	require.NoError(t, err, decl)
	require.Len(t, w.Items, count)
	var all []string
	for _, it := range w.Items {
		all = append(all, it.Values.Get(field))
		e := it.Entity
		text := string(it.Attributes.Get("SK").Raw())
		v, ok := e.Attribute("SK").Template.Match(text)
		require.True(t, ok, text)
		canonical, err := e.Field(field).Type.Canonical(it.Values.Get(field))
		require.NoError(t, err)
		require.Equal(t, canonical, v[field], "what is generated is canonical: %s", it.Values.Get(field))
	}
	return all
}

// TestTypes generates values of each type within its bounds.
func TestTypes(t *testing.T) {
	for _, tt := range []struct{ decl, low, high string }{
		{"string", "", ""},
		{"path", "", ""},
		{"uuid", "", ""},
		{"ulid", "", ""},
		{"ksuid", "", ""},
		{"hex(9)", "", ""},
		{"{size: 3..5}", "", ""},
		{"{type: path, size: 9}", "", ""},
		{"int(4)", "", ""},
		{"signed(4)", "", ""},
		{`"decimal(3,2)"`, "", ""},
		{"number", "", ""},
		{"int(38)", "", ""},
		{`"decimal(20,18)"`, "", ""},
		{`"enum(a,b,c)"`, "a", "c"},
		{"{values: [x, y]}", "x", "y"},
		{"{type: int(2), from: 10, to: 20}", "10", "20"},
		{"{type: number, from: -1.50, to: -1.45}", "", ""},
		{"date", "2025-01-01", "2025-12-31"},
		{"month", "2025-01", "2025-12"},
		{"year", "2025", "2025"},
		{"{type: date, from: 2026-02, to: 2026-02}", "2026-02-01", "2026-02-28"},
		{"{type: time, from: 2026-02-03, to: 2026-02-03}", "2026-02-03T00:00:00Z", "2026-02-03T23:59:59Z"},
		{"{type: millis, from: 1969-12-31, to: 1969-12-31}", "1969-12-31T00", "1969-12-31T24"},
		{"{type: ulid, from: 2026-01-01, to: 2026-02}", "", ""},
		{"micros", "", ""},
		{"nanos", "", ""},
		{"epoch", "2025-01-01", "2025-12-31U"},
		{"epochms", "2025-01-01", "2025-12-31U"},
		{"{type: month, from: 2026, to: 2027, distinct: 5}", "2026-01", "2027-12"},
	} {
		for _, v := range generated(t, "f", tt.decl, 60) {
			if tt.low != "" && (v < tt.low || v > tt.high) {
				t.Errorf("%s gives %s, outside %s … %s", tt.decl, v, tt.low, tt.high)
			}
		}
	}
}

func counts(list []string) map[string]int {
	n := map[string]int{}
	for _, v := range list {
		n[v]++
	}
	return n
}

func TestDistributions(t *testing.T) {
	if n := counts(generated(t, "f", "{distinct: 7}", 700)); len(n) != 7 || n[generated(t, "f", "{distinct: 7}", 1)[0]] > 150 {
		t.Errorf("uniform: %v", n)
	}
	n := counts(generated(t, "f", "{values: [a, b, c, d], distribution: zipf(1)}", 2000))
	for v, share := range map[string]float64{"a": 12. / 25, "b": 6. / 25, "c": 4. / 25, "d": 3. / 25} {
		if got := float64(n[v]) / 2000; math.Abs(got-share) > 0.04 {
			t.Errorf("zipf: %s has %.3f of the items, want %.3f", v, got, share)
		}
	}
	if got := generated(t, "f", "{values: [a, b, c], distribution: sequence}", 5); strings.Join(got, "") != "abcab" {
		t.Errorf("sequence: %v", got)
	}
	require.Equal(t, []string{"7", "7", "7"}, generated(t, "f", "{type: int(3), from: 7, to: 7}", 3))
	if got := generated(t, "f", "{type: int(3), from: 5, distribution: sequence}", 3); strings.Join(got, ",") != "5,6,7" {
		t.Errorf("sequence: %v", got)
	}
	got := generated(t, "f", "{type: time, distribution: sequence}", 50)
	for i := range got[1:] {
		if got[i] >= got[i+1] {
			t.Errorf("a sequence of times has %s before %s", got[i], got[i+1])
		}
	}
	got = generated(t, "f", "{type: ulid, distribution: sequence}", 50)
	for i := range got[1:] {
		if got[i] >= got[i+1] {
			t.Errorf("a sequence of ids has %s before %s", got[i], got[i+1])
		}
	}
}

func TestPower(t *testing.T) {
	for _, skew := range []float64{0.5, 1, 1.2, 2, 7.9} {
		s := uint64(skew*65536 + 0.5)
		for _, n := range []uint64{1, 2, 3, 10, 1000, 999_999} {
			want := math.Pow(float64(n), -float64(s)/65536) * (1 << 40)
			if got := float64(dataset.Power(n, s)); math.Abs(got-want) > 1+want*1e-8 {
				t.Errorf("Power(%d, %v) = %v, want %v", n, skew, got, want)
			}
		}
	}
}

// TestSame compares generated values with fixed ones: a seed must give the same values on every machine and in every
// version.
func TestSame(t *testing.T) {
	w, err := dataset.Build(t.Context(), load(t, "shop.yaml"), dataset.Options{Seed: 42, MaxItems: 500})
	require.NoError(t, err)
	defer w.Close()
	h := sha256.New()
	for _, it := range w.Items {
		h.Write(it.Attributes.AppendJSON(nil))
	}
	const want = "865086a4fff52736"
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
		t.Errorf("the items of seed 42 have the digest %s, want %s", got, want)
	}
}

func TestKeysRunOut(t *testing.T) {
	const entity = "entities: {E: {fields: {a: {distinct: 5}, b: {values: [x, y]}}, attributes: {PK: \"{a}\", SK: \"{b}\"}, count: %d}}\n"
	w, err := build(t, fmt.Sprintf(entity, 10), dataset.Options{})
	require.NoError(t, err, "all combinations are found")
	require.Len(t, w.Items, 10)
	_, err = build(t, fmt.Sprintf(entity, 11), dataset.Options{})
	require.ErrorContains(t, err, "has too few keys for its count")

	const owned = "entities: {E: {attributes: {PK: \"E#{id:int(6)}\", SK: a}, samples: [{id: 1}, {id: 2}], count: 1000}}\n"
	w, err = build(t, owned, dataset.Options{})
	require.NoError(t, err, "samples take keys of their own")
	require.Len(t, w.Items, 1002)
}

func TestInvalidItems(t *testing.T) {
	for _, tt := range []struct{ rest, want string }{
		{"items: {Tab: [{PK: a, SK: b}, {PK: a, SK: b}]}\n", "m.yaml:4:31: this item has the same key as the one on line 4"},
		{
			"items: {Tab: [{PK: " + strings.Repeat("a", 3000) + ", SK: b}]}\n",
			"limit of2048 bytes",
		},
		{"items: {Tab: [{PK: a, SK: b}, {PK: \"\", SK: b}]}\n", "m.yaml:4:31: table Tab refuses this item: "},
		{"entities: {E: {fields: {f: {distribution: zipf}}, attributes: {PK: \"{f}\", SK: \"{f}\"}, count: 2000000}}\n", "zipf distribution needs"},
	} {
		_, err := build(t, tt.rest, dataset.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.rest, err, tt.want)
		}
	}
}

// TestMaxBytes checks that MaxBytes limits large items.
func TestMaxBytes(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(`name: m
tables: {Docs: {partition: PK, sort: SK, indexes: {ByDoc: {partition: SK, projection: all}}}}
fields: {user: {distinct: 10}, body: {size: 2000..6000}}
entities:
  Doc: {attributes: {PK: "U#{user}", SK: "{doc}", body: "{body}"}, count: 50000}
  Tag: {attributes: {PK: "T#{user}", SK: "{tag}"}, count: 5000}
`))
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{MaxBytes: 8 << 20})
	require.NoError(t, err)
	defer w.Close()
	require.True(t, w.Bytes)
	size := 0
	for _, x := range []*model.Index{nil, m.Tables[0].Indexes[0]} {
		s, err := w.Space(t.Context(), m.Tables[0], x)
		require.NoError(t, err)
		size += s.Bytes
	}
	require.InEpsilon(t, 8<<20, size, 0.1)
	require.InEpsilon(t, w.Scale, float64(len(w.Items))/55000, 0.01)
	docs := 0
	for _, it := range w.Items {
		if it.Entity.Name == "Doc" {
			docs++
		}
	}
	require.InEpsilon(t, 1000, docs, 0.1)
}

// TestSeed checks that all bits of the seed have an effect, also of the seed in the file.
func TestSeed(t *testing.T) {
	seen := map[string]uint64{}
	for _, seed := range []uint64{1, 1 << 32, 1 << 53, 1<<53 + 1, 1 << 63, 1<<63 + 1, 1<<64 - 1} {
		m, err := modelfile.Parse("m.yaml", []byte(fmt.Sprintf(`name: m
seed: %d
tables: {Docs: {partition: PK}}
entities:
  Doc: {attributes: {PK: "{id}"}, count: 1}
`, seed)))
		require.NoError(t, err)
		require.Equal(t, seed, m.Seed)
		var b bytes.Buffer
		require.NoError(t, modelfile.Write(&b, m))
		again, err := modelfile.Parse("m.yaml", b.Bytes())
		require.NoError(t, err)
		require.Equal(t, seed, again.Seed)
		w, err := dataset.Build(t.Context(), m, dataset.Options{})
		require.NoError(t, err)
		key := string(w.Items[0].Attributes.AppendJSON(nil))
		require.NoError(t, w.Close())
		require.Zero(t, seen[key], "seeds %d and %d give the same item", seed, seen[key])
		seen[key] = seed
	}
}

// TestRefused checks that Build refuses an invalid item with OnDemand as it does without.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, onDemand := range []bool{false, true} {
		_, err := build(t, `
entities:
  Page:
    fields: {text: {size: 409600}}
    attributes: {PK: "PAGE#{page}", SK: page, text: "{text}"}
    count: 3
`, dataset.Options{OnDemand: onDemand})
		require.ErrorContains(t, err, "table Tab refuses this item: Item size has exceeded the maximum allowed size")
	}
}
