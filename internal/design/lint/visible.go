package lint

import (
	"slices"
	"strings"
	"unicode"
)

// visibleForm returns the form in which texts that look the same are equal.
func visibleForm(s string) string {
	if isPlain(s) {
		return trimSpaces(s)
	}
	return decomposed(trimSpaces(strings.Map(withWidth, s)))
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// trimSpaces removes spaces at the ends and makes those inside plain.
func trimSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

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
	'\u0301': {
		"AEIOUYaeiouyCcLlNnRrSsZzÜüGgÅåÆæØøΑΕΗΙΟΥΩϊαεηιϋουωГКгкÇçĒēÏïKkMmÕõŌōPpŨũWwÂâĂăÊêÔôƠơƯư",
		"ÁÉÍÓÚÝáéíóúýĆćĹĺŃńŔŕŚśŹźǗǘǴǵǺǻǼǽǾǿΆΈΉΊΌΎΏΐάέήίΰόύώЃЌѓќḈḉḖḗḮḯḰḱḾḿṌṍṒṓṔṕṸṹẂẃẤấẮắẾếỐốỚớỨứ",
	},
	'\u0302': {"AEIOUaeiouCcGgHhJjSsWwYyZzẠạẸẹỌọ", "ÂÊÎÔÛâêîôûĈĉĜĝĤĥĴĵŜŝŴŵŶŷẐẑẬậỆệỘộ"},
	'\u0303': {"ANOanoIiUuVvÂâĂăEeÊêÔôƠơƯưYy", "ÃÑÕãñõĨĩŨũṼṽẪẫẴẵẼẽỄễỖỗỠỡỮữỸỹ"},
	'\u0304': {"AaEeIiOoUuÜüÄäȦȧÆæǪǫÖöÕõȮȯYyИиУуGgḶḷṚṛ", "ĀāĒēĪīŌōŪūǕǖǞǟǠǡǢǣǬǭȪȫȬȭȰȱȲȳӢӣӮӯḠḡḸḹṜṝ"},
	'\u0306': {"AaEeGgIiOoUuУИиуЖжАаЕеȨȩẠạ", "ĂăĔĕĞğĬĭŎŏŬŭЎЙйўӁӂӐӑӖӗḜḝẶặ"},
	'\u0307': {"CcEeGgIZzAaOoBbDdFfHhMmNnPpRrSsŚśŠšṢṣTtWwXxYyſ", "ĊċĖėĠġİŻżȦȧȮȯḂḃḊḋḞḟḢḣṀṁṄṅṖṗṘṙṠṡṤṥṦṧṨṩṪṫẆẇẊẋẎẏẛ"},
	'\u0308': {
		"AEIOUaeiouyYΙΥιυЕІеіАаӘәЖжЗзИиОоӨөЭэУуЧчЫыHhÕõŪūWwXxt",
		"ÄËÏÖÜäëïöüÿŸΪΫϊϋЁЇёїӒӓӚӛӜӝӞӟӤӥӦӧӪӫӬӭӰӱӴӵӸӹḦḧṎṏṺṻẄẅẌẍẗ",
	},
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
