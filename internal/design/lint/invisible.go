package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

var invisibleDifference = lint{Rule{
	ID: "invisible-difference", Title: "Values that look the same", Severity: model.Warning,
	Help: "Keys are compared byte by byte, so two values that look the same can be two keys: é can be one character or e followed by an accent, as macOS writes file names; " +
		"text copied from a page can contain a zero-width space or a byte order mark; and \" ann\" is not \"ann\". A request for one does not find rows of the other, and the same name can be taken twice. " +
		"The rule compares the values in the model with each other and with the values that patterns ask for.",
	Example: []string{`"USER#Zo\u00eb" (Zoë)`, `"USER#Zoe\u0308" (Zoë)`},
	Cure:    "Before you build a key, normalise text to NFC, remove characters without width, and trim spaces. Keep what people typed in a separate attribute.",
	Source:  "https://www.unicode.org/reports/tr15/ (normalisation forms); https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html",
}, func(l *linter) {
	l.invisibleInFields()
	l.invisibleInKeys()
}}

// A spelling is a text in a key, with a slot that contains it.
type spelling struct {
	s *slot
	w authoredValue
	q *query // the pattern that asks for it, or nil
}

// invisibleInFields compares the values of each component across all entities
// and patterns.
func (l *linter) invisibleInFields() {
	known := map[string]spelling{}
	reported := map[string]bool{}
	compare := func(field string, b spelling) {
		key := field + "\x00" + visible(b.w.text)
		a, ok := known[key]
		if !ok {
			known[key] = b
			return
		}
		how := hiddenDifference(a.w.text, b.w.text)
		if how == "" || reported[field] {
			return
		}
		reported[field] = true
		f := b.s.in(model.Finding{
			Message: fmt.Sprintf("%s and %s are two values of %s in keys that look the same: they differ in %s", escaped(a.w.text), escaped(b.w.text), field, how),
			Advice:  normalAdvice(field, how),
			Keys:    escapedKeys(append(l.keyWith(a.s, field, a.w), l.keyWith(b.s, field, b.w)...)),
		})
		if b.q != nil {
			f.Pattern, f.Pos = b.q.p.Name, b.q.p.Pos
			f.Message += fmt.Sprintf(", so %q does not find the rows of %s", b.q.p.Name, escaped(a.w.text))
		}
		l.add(f)
	}
	for _, s := range l.slots {
		for _, p := range s.parts {
			if p.Name == "" || !textual(p.Type) {
				continue
			}
			for _, w := range l.authored(s.e, p.Name) {
				compare(p.Name, spelling{s: s, w: w})
			}
		}
	}
	for _, q := range l.queries {
		for _, c := range q.p.Where {
			if q.p.Entity == nil || c.Op != ast.Equal || len(c.Args) != 1 {
				continue
			}
			for _, s := range l.slots {
				if s.e == q.p.Entity && slices.Contains(s.t.Template.Components(), c.Field) {
					compare(c.Field, spelling{s: s, w: authoredValue{text: c.Args[0]}, q: q})
					break
				}
			}
		}
	}
}

// invisibleInKeys compares the table keys of raw items with those of all items
// of the file.
func (l *linter) invisibleInKeys() {
	if len(l.items[nil]) == 0 {
		return
	}
	for _, t := range l.m.Tables {
		v := l.tableView(t)
		for _, a := range v.all {
			if a.Kind != attr.String {
				continue
			}
			known := map[string]*world.Item{}
			for _, r := range v.Rows {
				if r.Item.Generated {
					continue
				}
				name := string(r.Item.Attributes.Get(a.Name).Raw())
				key := visible(name)
				have, ok := known[key]
				if !ok {
					known[key] = r.Item
					continue
				}
				other := string(have.Attributes.Get(a.Name).Raw())
				how := hiddenDifference(other, name)
				if how == "" || have.Entity != nil && r.Item.Entity != nil {
					continue // invisibleInFields reports those
				}
				f := v.in(model.Finding{
					Pos:     l.place(have, r.Item),
					Message: fmt.Sprintf("%s and %s are two values of %s that look the same: they differ in %s", escaped(other), escaped(name), a.Name, how),
					Advice:  normalAdvice(a.Name, how),
					Keys:    escapedKeys(v.shown(have, r.Item)),
				})
				l.add(f)
				break
			}
		}
	}
}

// place returns the place in the file of the last of the raw items.
func (l *linter) place(items ...*world.Item) (pos model.Pos) {
	for _, raw := range l.w.Model.Items {
		for _, it := range items {
			if raw.Table == it.Table && raw.Item.Equal(it.Attributes) {
				pos = raw.Pos
			}
		}
	}
	return pos
}

func normalAdvice(name, how string) string {
	switch how {
	case hiddenSpace:
		return "trim spaces from " + name + " before you build the key"
	case hiddenWidth:
		return "remove characters without width from " + name + " before you build the key"
	}
	return "normalise " + name + " to one form, such as NFC, before you build the key"
}

// The invisible differences.
const (
	hiddenSpace = "spaces"
	hiddenWidth = "characters without width"
	hiddenForm  = "their Unicode normalisation form"
)

// hiddenDifference says how two texts that look the same differ, or "".
func hiddenDifference(a, b string) string {
	switch {
	case a == b:
		return ""
	case trimmed(a) == trimmed(b):
		return hiddenSpace
	case strings.Map(withWidth, a) == strings.Map(withWidth, b):
		return hiddenWidth
	}
	return hiddenForm
}

// visible returns the form in which texts that look the same are equal.
func visible(s string) string {
	if isPlain(s) {
		return trimmed(s)
	}
	return decomposed(trimmed(strings.Map(withWidth, s)))
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// trimmed removes spaces at the ends and makes those inside plain.
func trimmed(s string) string { return strings.Join(strings.Fields(s), " ") }

// withWidth drops characters that have no width, for [strings.Map].
func withWidth(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// decomposed separates letters from their accents and sorts the accents. It
// knows the Latin, Greek and Cyrillic letters, which is enough to compare texts
// that people type.
func decomposed(s string) string {
	var out []rune
	var add func(r rune)
	add = func(r rune) {
		if d, ok := decompositions[r]; ok {
			add(d[0])
			out = append(out, d[1])
			return
		}
		out = append(out, r)
	}
	for _, r := range s {
		add(r)
	}
	for i := 0; i < len(out); i++ {
		from := i
		for i < len(out) && unicode.Is(unicode.Mn, out[i]) {
			i++
		}
		slices.Sort(out[from:i])
	}
	return string(out)
}

// escaped quotes text so that invisible differences show.
func escaped(s string) string { return clip(strconv.QuoteToASCII(s)) }

// escapedKeys escapes what keys have beyond ASCII.
func escapedKeys(shown []string) []string {
	for i, key := range shown {
		if !isPlain(key) {
			key = strconv.QuoteToASCII(key)
			shown[i] = strings.ReplaceAll(key[1:len(key)-1], `\"`, `"`)
		}
	}
	return shown
}

// decompositions has the canonical decomposition of letters into a letter and
// an accent.
var decompositions = func() map[rune][2]rune {
	all := map[rune][2]rune{}
	for accent, forms := range accents {
		base := []rune(forms[0])
		for i, r := range []rune(forms[1]) {
			all[r] = [2]rune{base[i], accent}
		}
	}
	return all
}()

// accents lists letters and their forms with each accent, from UnicodeData.txt.
var accents = map[rune][2]string{
	'\u0300': {"AEIOUaeiouÜüNnЕИеиĒēŌōWwÂâĂăÊêÔôƠơƯưYy", "ÀÈÌÒÙàèìòùǛǜǸǹЀЍѐѝḔḕṐṑẀẁẦầẰằỀềỒồỜờỪừỲỳ"},
	'\u0301': {"AEIOUYaeiouyCcLlNnRrSsZzÜüGgÅåÆæØøΑΕΗΙΟΥΩϊαεηιϋουωГКгкÇçĒēÏïKkMmÕõŌōPpŨũWwÂâĂăÊêÔôƠơƯư", "ÁÉÍÓÚÝáéíóúýĆćĹĺŃńŔŕŚśŹźǗǘǴǵǺǻǼǽǾǿΆΈΉΊΌΎΏΐάέήίΰόύώЃЌѓќḈḉḖḗḮḯḰḱḾḿṌṍṒṓṔṕṸṹẂẃẤấẮắẾếỐốỚớỨứ"},
	'\u0302': {"AEIOUaeiouCcGgHhJjSsWwYyZzẠạẸẹỌọ", "ÂÊÎÔÛâêîôûĈĉĜĝĤĥĴĵŜŝŴŵŶŷẐẑẬậỆệỘộ"},
	'\u0303': {"ANOanoIiUuVvÂâĂăEeÊêÔôƠơƯưYy", "ÃÑÕãñõĨĩŨũṼṽẪẫẴẵẼẽỄễỖỗỠỡỮữỸỹ"},
	'\u0304': {"AaEeIiOoUuÜüÄäȦȧÆæǪǫÖöÕõȮȯYyИиУуGgḶḷṚṛ", "ĀāĒēĪīŌōŪūǕǖǞǟǠǡǢǣǬǭȪȫȬȭȰȱȲȳӢӣӮӯḠḡḸḹṜṝ"},
	'\u0306': {"AaEeGgIiOoUuУИиуЖжАаЕеȨȩẠạ", "ĂăĔĕĞğĬĭŎŏŬŭЎЙйўӁӂӐӑӖӗḜḝẶặ"},
	'\u0307': {"CcEeGgIZzAaOoBbDdFfHhMmNnPpRrSsŚśŠšṢṣTtWwXxYyſ", "ĊċĖėĠġİŻżȦȧȮȯḂḃḊḋḞḟḢḣṀṁṄṅṖṗṘṙṠṡṤṥṦṧṨṩṪṫẆẇẊẋẎẏẛ"},
	'\u0308': {"AEIOUaeiouyYΙΥιυЕІеіАаӘәЖжЗзИиОоӨөЭэУуЧчЫыHhÕõŪūWwXxt", "ÄËÏÖÜäëïöüÿŸΪΫϊϋЁЇёїӒӓӚӛӜӝӞӟӤӥӦӧӪӫӬӭӰӱӴӵӸӹḦḧṎṏṺṻẄẅẌẍẗ"},
	'\u0309': {"AaÂâĂăEeÊêIiOoÔôƠơUuƯưYy", "ẢảẨẩẲẳẺẻỂểỈỉỎỏỔổỞởỦủỬửỶỷ"},
	'\u030A': {"AaUuwy", "ÅåŮůẘẙ"},
	'\u030B': {"OoUuУу", "ŐőŰűӲӳ"},
	'\u030C': {"CcDdEeLlNnRrSsTtZzAaIiOoUuÜüGgKkƷʒjHh", "ČčĎďĚěĽľŇňŘřŠšŤťŽžǍǎǏǐǑǒǓǔǙǚǦǧǨǩǮǯǰȞȟ"},
	'\u030F': {"AaEeIiOoRrUuѴѵ", "ȀȁȄȅȈȉȌȍȐȑȔȕѶѷ"},
	'\u0311': {"AaEeIiOoRrUu", "ȂȃȆȇȊȋȎȏȒȓȖȗ"},
	'\u031B': {"OoUu", "ƠơƯư"},
	'\u0323': {"BbDdHhKkLlMmNnRrSsTtVvWwZzAaEeIiOoƠơUuƯưYy", "ḄḅḌḍḤḥḲḳḶḷṂṃṆṇṚṛṢṣṬṭṾṿẈẉẒẓẠạẸẹỊịỌọỢợỤụỰựỴỵ"},
	'\u0324': {"Uu", "Ṳṳ"},
	'\u0325': {"Aa", "Ḁḁ"},
	'\u0326': {"SsTt", "ȘșȚț"},
	'\u0327': {"CcGgKkLlNnRrSsTtEeDdHh", "ÇçĢģĶķĻļŅņŖŗŞşŢţȨȩḐḑḨḩ"},
	'\u0328': {"AaEeIiUuOo", "ĄąĘęĮįŲųǪǫ"},
	'\u032D': {"DdEeLlNnTtUu", "ḒḓḘḙḼḽṊṋṰṱṶṷ"},
	'\u032E': {"Hh", "Ḫḫ"},
	'\u0330': {"EeIiUu", "ḚḛḬḭṴṵ"},
	'\u0331': {"BbDdKkLlNnRrTtZzh", "ḆḇḎḏḴḵḺḻṈṉṞṟṮṯẔẕẖ"},
}
