package mask

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/keys"
)

const shop = `name: shop
tables:
  Shop: {partition: PK, sort: SK, indexes: {ByMail: {partition: mail, sort: PK}, ByDay: {partition: day, sort: SK}}}
  Log: {partition: who, sort: at}
fields: {customer: {distinct: 40}}
entities:
  Customer:
    table: Shop
    attributes:
      PK: "CUSTOMER#{customer}"
      SK: PROFILE
      mail: "{mail}"
      name: "{name}"
      balance: {template: "{balance:number}", type: N}
    count: 40
  Order:
    table: Shop
    attributes: {PK: "CUSTOMER#{customer}", SK: "ORDER#{placed:date}#{order:ulid}", day: "{placed:date}", note: "{note}", no: "{no:int(6)}"}
    count: 300
  Entry:
    table: Log
    attributes: {who: "{customer}", at: "{at:millis}", id: "{id:uuid}"}
    count: 100
`

const rulesOfShop = `model: shop.yaml
seed: secret
rules:
  - {path: customer, as: shape}
  - {path: mail, as: fake email}
  - {entity: Customer, path: name, as: fake name}
  - {path: note, as: drop}
  - {path: order, as: hash}
  - {path: no, as: shape}
  - {path: id, as: hash}
  - {path: balance, as: keep}
`

func parse(t *testing.T, src, rules string) (*model.Model, *Rules) {
	t.Helper()
	m, err := modelfile.Parse("shop.yaml", []byte(src))
	require.NoError(t, err)
	r, err := Parse([]byte(rules), func(string) (*model.Model, error) { return m, nil })
	require.NoError(t, err)
	return m, r
}

// TestItems masks a dataset and compares it with the original: keys stay different, item collections stay together,
// and a value has the same stand-in everywhere.
func TestItems(t *testing.T) {
	m, r := parse(t, shop, rulesOfShop)
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()

	standIn, back := map[string]string{}, map[string]string{}
	keysSeen, mails := map[string]bool{}, map[string]bool{}
	for i := range w.Items {
		it := &w.Items[i]
		masked, err := r.Item(it.Table.Name, it.Attributes)
		require.NoError(t, err)
		again, err := r.Item(it.Table.Name, it.Attributes)
		require.NoError(t, err)
		require.Equal(t, masked, again)
		require.Equal(t, it.Entity, m.Classify(it.Table, masked), "%s", masked)

		before, after := it.Entity.FieldsOf(it.Attributes), it.Entity.FieldsOf(masked)
		was, is := before["customer"], after["customer"]
		require.NotEqual(t, was, is)
		require.Len(t, is, len(was))
		if have, ok := standIn[was]; ok {
			require.Equal(t, have, is)
		}
		if have, ok := back[is]; ok {
			require.Equal(t, have, was, "two customers have one stand-in")
		}
		standIn[was], back[is] = is, was

		require.Equal(t, before["placed"], after["placed"], "times stay")
		require.Equal(t, before["balance"], after["balance"])
		require.Equal(t, attr.Kind(0), masked.Get("note").Kind())
		switch it.Entity.Name {
		case "Customer":
			require.True(t, strings.HasSuffix(after["mail"], "@example.com"), after["mail"])
			mails[after["mail"]] = true
		case "Order":
			require.Equal(t, before["order"][:10], after["order"][:10], "the time of a ULID stays")
			require.NotEqual(t, before["order"], after["order"])
			require.Equal(t, after["placed"], string(masked.Get("day").Raw()))
		case "Entry":
			require.NotEqual(t, before["id"], after["id"])
		}

		id := it.Table.Name
		for _, a := range it.Table.Keys() {
			id += "\x00" + string(masked.Get(a.Name).Raw())
		}
		require.False(t, keysSeen[id], "two items have one key: %s", masked)
		keysSeen[id] = true
	}
	require.Len(t, mails, 40)
	left, _ := r.Uncovered()
	require.Empty(t, left)
}

// TestUncovered checks that Uncovered lists the values that no rule covers, also nested ones, and that Item keeps
// them.
func TestUncovered(t *testing.T) {
	_, r := parse(t, shop, "model: m\nseed: x\nrules: [{path: customer, as: hash}, {path: address.street, as: shape}, {path: phones.*.number, as: redact}]")
	it, err := attr.ParseItem([]byte(`{"PK":{"S":"CUSTOMER#ann"},"SK":{"S":"PROFILE"},"mail":{"S":"a@b.c"},
		"address":{"M":{"street":{"S":"Main 1"},"city":{"S":"Rome"}}},
		"phones":{"M":{"home":{"M":{"number":{"S":"12"},"kind":{"S":"land"}}}}},"tags":{"L":[{"S":"x"}]}}`))
	require.NoError(t, err)
	masked, err := r.Item("Shop", it)
	require.NoError(t, err)
	require.NotContains(t, string(masked.AppendJSON(nil)), "ann")
	require.NotContains(t, string(masked.AppendJSON(nil)), "Main 1")
	require.Contains(t, string(masked.AppendJSON(nil)), `"number":{"S":"redacted"}`)
	left, _ := r.Uncovered()
	require.Equal(t, []string{
		"Customer * (names)", "Customer address.*", "Customer mail", "Customer phones.* (names)",
		"Customer phones.*.*", "Customer tags",
	}, left)

	raw, err := attr.ParseItem([]byte(`{"PK":{"S":"X"},"SK":{"S":"Y"},"customer":{"S":"ann"}}`))
	require.NoError(t, err)
	masked, err = r.Item("Shop", raw)
	require.NoError(t, err)
	require.NotContains(t, string(masked.AppendJSON(nil)), "ann", "an item of no entity has attributes")
}

// TestShape checks that stand-ins keep the shape, and that different texts have different ones.
func TestShape(t *testing.T) {
	m := mint{[]byte("seed")}
	require.Regexp(t, `^[A-Z]{2}-\d{4} [a-z]{4}$`, m.text(shape, "", "AB-1234 test"))
	long := strings.Repeat("abc0", 50)
	require.Len(t, m.text(shape, "", long), len(long))
	require.NotEqual(t, long, m.text(shape, "", long))
	umlauts := m.text(shape, "", "Müller-Lüdenscheidt 東京")
	require.Len(t, umlauts, len("Müller-Lüdenscheidt 東京"))

	for _, digits := range []int{1, 2, 3} {
		seen := map[string]bool{}
		most := 1
		for range digits {
			most *= 10
		}
		for i := range most {
			s := strconv.Itoa(i)
			s = strings.Repeat("0", digits-len(s)) + s
			seen[m.text(shape, "", s)] = true
		}
		require.Len(t, seen, most)
	}
	numbers := map[string]bool{}
	for i := 100; i < 1000; i++ {
		n := m.number(strconv.Itoa(i))
		require.Len(t, n, 3)
		require.NotEqual(t, byte('0'), n[0])
		numbers[n] = true
	}
	require.Len(t, numbers, 900)
	for _, n := range []string{"0", "7", "-12.5", "1E+10", "0.001", "123456789012345678901234567890"} {
		v, err := attr.NewNumber(m.number(n))
		require.NoError(t, err, n)
		again, err := attr.NewNumber(n)
		require.NoError(t, err)
		require.Equal(t, len(again.AppendNumber(nil)), len(v.AppendNumber(nil)), n)
	}
	for _, typ := range []keys.Type{{Name: "hex", Width: 8}, {Name: "int", Width: 4}, {Name: "uuid"}, {Name: "string", Width: 3}} {
		value := map[string]string{"hex": "00ff00ff", "int": "0042", "uuid": "123e4567-e89b-42d3-a456-426614174000", "string": "abc"}[typ.Name]
		got, err := m.value(hash, "", typ, value)
		require.NoError(t, err, typ)
		_, err = typ.Encode(got)
		require.NoError(t, err, typ)
	}
	require.NotEqual(t, m.text(hash, "", "a"), mint{[]byte("other")}.text(hash, "", "a"))
}

// alike returns the number of positions with the same character in two texts of equal length.
func alike(a, b string) (n int) {
	for i := range len(a) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// TestWhole checks that a stand-in depends on the whole value: the stand-ins of two values that differ in one
// character have no part in common.
func TestWhole(t *testing.T) {
	m := mint{[]byte("seed")}
	original := strings.Repeat("ab", 50)
	made := m.text(shape, "", original)
	seen := map[string]bool{made: true}
	for i := range len(original) {
		other := m.text(shape, "", original[:i]+"x"+original[i+1:])
		require.Less(t, alike(made, other), 20, "the characters at %d differ, want about 1 of 26 alike", i)
		require.False(t, seen[other])
		seen[other] = true
	}
	require.Less(t, alike(made, m.text(shape, "", original+"b")), 20)
	require.NotEqual(t, m.text(shape, "", "anna:lee")[:4], m.text(shape, "", "anna-lee")[:4])

	binary := func(how, text string) string {
		_, r := parse(t, shop, `{seed: x, rules: [{path: "*", as: `+how+`, names: keep}]}`)
		var b attr.Builder
		b.Add("b", attr.NewBinary([]byte(text)))
		masked, err := r.Covered("T", b.Item())
		require.NoError(t, err)
		return string(masked.Get("b").Raw())
	}
	bob, eve := "diagnosis=none   bob", "diagnosis=none   eve"
	require.Less(t, alike(binary("shape", bob), binary("shape", eve)), 4)
	require.Len(t, binary("shape", bob), len(bob))
	require.Less(t, alike(binary("hash", bob), binary("hash", eve)), 4)
	require.Len(t, binary("hash", bob), 8)
	require.Len(t, binary("hash", "b"), 8)
}

func TestParseErrors(t *testing.T) {
	m, err := modelfile.Parse("shop.yaml", []byte(shop))
	require.NoError(t, err)
	for _, tt := range []struct{ rules, want string }{
		{"", "no rules"},
		{"rules: [{path: x, as: hash}]", "no seed"},
		{"seed: x\nrules: [{pth: x}]", "pth"},
		{"seed: x\nrules: [{as: hash}]", "it has no path"},
		{"seed: x\nrules: [{path: x, as: scramble}]", "as is one of"},
		{"seed: x\nrules: [{path: x, as: fake}]", "write what to fake"},
		{"seed: x\nrules: [{path: x, as: hash, names: drop}]", "names is hash, shape or keep, not"},
		{"seed: x\nrules: [{path: x, as: hash md5}]", "hash takes no"},
		{"seed: x\nrules: [{entity: E, path: x, as: hash}]", "an entity needs a model"},
		{"seed: x\nmodel: m\nrules: [{entity: E, path: x, as: hash}]", "the model has no entity E"},
		{"seed: x\nmodel: m\nrules: [{path: PK, as: hash}]", "PK is a key of Customer made of customer: name those"},
		{"seed: x\nmodel: m\nrules: [{path: customer, as: redact}]", "would make keys equal"},
		{"seed: x\nmodel: m\nrules: [{path: customer, as: fake name}]", "would make keys equal"},
		{"seed: x\nmodel: m\nrules: [{path: placed, as: hash}]", "placed is a time"},
	} {
		_, err := Parse([]byte(tt.rules), func(string) (*model.Model, error) { return m, nil })
		require.ErrorContains(t, err, tt.want, tt.rules)
	}
}

// TestKeys tests rules without a model for which Keys sets the key attributes.
func TestKeys(t *testing.T) {
	for _, tt := range []struct{ rules, want string }{
		{"[{path: PK, as: redact}]", "PK is in the key of table Tab, and redact would make keys equal: use hash or shape"},
		{"[{path: SK, as: fake name}]", "SK is in the key of table Tab, and fake would make keys equal"},
		{`[{path: "*", as: drop}]`, "PK is in the key of table Tab, and drop would make keys equal"},
		{`[{path: PK, as: hash}, {path: SK, as: keep}, {path: "*", as: redact}]`, ""},
		{"[{path: PK, as: fake email}]", ""},
	} {
		r, err := Parse([]byte("seed: x\nrules: "+tt.rules), nil)
		require.NoError(t, err)
		if err := r.Keys("Tab", []string{"PK", "SK"}); tt.want != "" {
			require.ErrorContains(t, err, tt.want)
		} else {
			require.NoError(t, err)
		}
	}

	r, err := Parse([]byte(`{seed: x, rules: [{path: "*", as: hash, names: hash}]}`), nil)
	require.NoError(t, err)
	require.NoError(t, r.Keys("Tab", []string{"PK"}))
	it, err := attr.ParseItem([]byte(`{"PK":{"S":"a"},"Ann Lee":{"S":"b"}}`))
	require.NoError(t, err)
	out, err := r.Covered("Tab", it)
	require.NoError(t, err)
	require.NotEmpty(t, out.Get("PK").Raw(), "the name of a key stays")
	require.Zero(t, out.Get("Ann Lee").Kind())
}

// TestNoneStays checks that no value is its own stand-in, and that different numbers have different stand-ins,
// including fractions, zero and the largest numbers.
func TestNoneStays(t *testing.T) {
	var texts []string
	for i := 0; i < 1000; i += 1 + i/20 {
		texts = append(texts, strconv.Itoa(i), "-"+strconv.Itoa(i+1), "0."+strconv.Itoa(i)+"1", strconv.Itoa(i)+".5",
			"0.0"+strconv.Itoa(i%9+1)+"E-90", strconv.Itoa(i+1)+strings.Repeat("0", 122))
	}
	for i := range 9 {
		texts = append(texts, "0."+strconv.Itoa(i+1), strconv.Itoa(i+1)+"E+100")
	}
	texts = append(texts, "1E+38", "1"+strings.Repeat("0", 38), strings.Repeat("9", 38)+strings.Repeat("0", 88))

	for _, seed := range []string{"a", "b", "c"} {
		m := mint{[]byte(seed)}
		was := map[string]attr.Value{}
		for _, text := range texts {
			before, err := attr.NewNumber(text)
			require.NoError(t, err)
			after, err := attr.NewNumber(m.number(string(before.AppendNumber(nil))))
			require.NoError(t, err, text)
			require.False(t, attr.Equal(before, after), "%s stays with seed %s", text, seed)

			id := string(after.AppendNumber(nil))
			if have, ok := was[id]; ok {
				require.True(t, attr.Equal(have, before), "%s has two originals with seed %s", id, seed)
			}
			was[id] = before
		}

		for c := 'a'; c <= 'z'; c++ {
			require.NotEqual(t, string(c), m.text(shape, "", string(c)))
		}
		small, err := m.value(shape, "", keys.Type{Name: "int", Width: 19}, "9223372036854775806")
		require.NoError(t, err)
		require.NotEqual(t, "9223372036854775806", small)
		require.Equal(t, m.number("1.5"), strings.TrimRight(m.number("1.50"), "0"))
		require.Equal(t, m.number("7"), strings.TrimSuffix(m.number("7.00"), ".00"))
	}
}

// hidden has a secret in every place of an item. Each secret contains a 7 and a different name.
const hidden = `{"PK":{"S":"CUSTOMER#anna7"},"SK":{"S":"PROFILE"},"mail":{"S":"berta7@example.org"},"day":{"S":"carla7"},
	"list":{"L":[{"S":"dora7"},{"M":{"erna7":{"S":"frida7"}}},{"L":[{"S":"gerda7"}]}]},
	"map":{"M":{"hanna7@example.org":{"M":{"+49151777":{"BOOL":true},"ida7":{"M":{}}}},"job":{"N":"0.7"}}},
	"number":{"N":"77123.7"},"big":{"N":"7.7E+120"},"small":{"N":"7"},"fraction":{"N":"0.7"},
	"words":{"SS":["jana7","karla7"]},"numbers":{"NS":["0.7","771"]},"bytes":{"B":"bGVuYTc="},"byteses":{"BS":["bWFqYTc=","bmluYTc="]},
	"olga7@example.org":{"S":"x"},"paula7.renate7":{"NULL":true},"yes":{"BOOL":true},"no":{"BOOL":false}}`

// TestNothingLeaks searches the output for the secrets.
func TestNothingLeaks(t *testing.T) {
	it, err := attr.ParseItem([]byte(hidden))
	require.NoError(t, err)
	originals := regexp.MustCompile(`[a-z]+7(@example\.org)?|\+49151777|"0\.7"|77123\.7|7\.7E\+120|77[0-9]+|[A-Za-z0-9]{7}=`).
		FindAllString(hidden, -1)
	require.Greater(t, len(originals), 20)

	for _, how := range []string{"hash", "shape", "redact", "fake name"} {
		for _, header := range []string{"", "model: shop.yaml\n"} {
			names := "{path: PK, as: hash}, {path: SK, as: hash}, {path: mail, as: hash}, {path: day, as: hash}, "
			if header != "" {
				names = "{path: customer, as: hash}, "
			}
			rules := header + "seed: x\nrules: [" + names + `{path: yes, as: redact}, {path: no, as: redact}, {path: map, as: ` +
				how + `, names: hash}, {path: "*", as: ` + how + "}]"
			_, r := parse(t, shop, rules)
			_, err := r.Covered("Shop", it)
			require.ErrorContains(t, err, "no rule covers", rules)
			_, err = r.Item("Shop", it)
			require.NoError(t, err)
			var all []string
			left, more := r.Uncovered()
			for _, u := range left {
				_, place, _ := strings.Cut(u, " ")
				all = append(all, place)
			}
			want := []string{"* (names)", "list.* (names)"}
			if how != "redact" {
				want = append(want, "map.*.* (Booleans)")
			}
			require.Equal(t, want, all, rules)
			require.False(t, more)

			covered := strings.Replace(rules, `{path: "*",`, `{path: "*", names: hash,`, 1)
			covered = strings.Replace(covered, "{path: map,", "{path: map.*.*, as: redact, names: hash}, {path: map,", 1)
			_, r = parse(t, shop, covered)
			masked, err := r.Covered("Shop", it)
			require.NoError(t, err, covered)
			text := string(masked.AppendJSON(nil))
			for _, word := range originals {
				require.NotContains(t, text, word, covered)
			}
			require.NotEqual(t, attr.Kind(0), masked.Get("PK").Kind())
			require.False(t, attr.Equal(it.Get("small"), masked.Get("small")))
		}
	}
}

// TestDots checks that a name with a dot is one name: a rule for the part before the dot does not keep it.
func TestDots(t *testing.T) {
	_, r := parse(t, shop, "seed: x\nrules: [{path: a, as: keep}]")
	it, err := attr.ParseItem([]byte(`{"a":{"S":"1"},"a.ssn":{"S":"2"}}`))
	require.NoError(t, err)
	_, err = r.Covered("T", it)
	require.EqualError(t, err, "no rule covers T a.ssn")
}

// TestListed checks that a rule for everything keeps times and listed values, in keys too, and that it keeps the
// value of a constant only if it is that in the design. A listed value in a key cannot be dropped.
func TestListed(t *testing.T) {
	src := `name: shop
tables: {Shop: {partition: PK, sort: SK}}
fields: {level: {values: [GOLD, TIN]}}
entities:
  Customer:
    table: Shop
    attributes:
      PK: "CUSTOMER#{state:enum(OPEN,CLOSED)}#{level}"
      SK: "{at:date}#{customer}"
      kind: {value: {S: customer}}
`
	m, r := parse(t, src, "model: m\nseed: x\nrules: [{path: '*', as: hash}]")
	_, err := Parse([]byte("model: m\nseed: x\nrules: [{path: state, as: drop}]"),
		func(string) (*model.Model, error) { return m, nil })
	require.ErrorContains(t, err, "state has only the values OPEN and CLOSED: keep it")
	mask := func(level, kind string) attr.Item {
		it, err := attr.ParseItem([]byte(`{"PK":{"S":"CUSTOMER#OPEN#` + level + `"},"SK":{"S":"2026-01-02#ann"},"kind":{"S":"` + kind + `"}}`))
		require.NoError(t, err)
		masked, err := r.Covered("Shop", it)
		require.NoError(t, err)
		return masked
	}
	masked := mask("GOLD", "customer")
	require.Equal(t, "CUSTOMER#OPEN#GOLD", string(masked.Get("PK").Raw()))
	require.Regexp(t, "^2026-01-02#[0-9a-f]{16}$", string(masked.Get("SK").Raw()))
	require.Equal(t, "customer", string(masked.Get("kind").Raw()))
	require.NotContains(t, string(mask("ann7", "ann8").AppendJSON(nil)), "ann")
}
