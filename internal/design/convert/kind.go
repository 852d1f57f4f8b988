package convert

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// shapes returns the shapes of the keys of an item.
func shapes(t *model.Table, it attr.Item) string {
	var parts []string
	for _, a := range t.Keys() {
		if a.Kind == attr.String {
			parts = append(parts, shape(keyText(it.Get(a.Name))))
		}
	}
	return strings.Join(parts, "\x00") + "\x00"
}

// kindAttributes are common names of an attribute with the kind of an item.
var kindAttributes = []string{
	"_type", "__edb_e__", "__typename", "entityType", "EntityType", "entity_type", "_et", "entity", "type", "Type",
	"kind",
}

// mostKinds limits the groups of a table's items. A larger number means that
// they are not kinds.
const mostKinds = 40

// groups groups items by kind: by an attribute that names it, or by the words
// in their keys.
func groups(t *model.Table, rows []*row) []*group {
	if len(rows) == 0 {
		return nil
	}

	for _, name := range kindAttributes {
		if t.Has(name) {
			continue
		}
		g := groupBy(rows, func(r *row) string {
			if v := r.it.Get(name); v.Kind() == attr.String && len(v.Raw()) < 50 {
				return string(v.Raw())
			}
			return ""
		})
		if len(g) > 0 && len(g) <= min(mostKinds, 1+len(rows)/2) {
			for _, one := range g {
				one.constant = name
			}
			return g
		}
	}

	list := t.Keys()
	g := groupBy(rows, func(r *row) string {
		kind := shapes(t, r.it)
		if r.facet != nil {
			kind += "\x00" + r.facet.name // the words in keys end before
		}
		return kind
	})
	if most := min(mostKinds, 6+2*len(rows)/3); len(g) > most {
		// Words that are values give too many groups.
		g = groupBy(rows, func(r *row) string { return shape(keyText(r.it.Get(list[0].Name))) + "\x00" })
		if len(g) > most {
			g = groupBy(rows, func(*row) string { return "\x00" })
		}
	}

	for _, one := range g {
		one.name = shapeName(one.name, t.Name)
	}
	return g
}

// groupBy returns groups in the order of their first item, or nil if an item
// has no kind.
func groupBy(rows []*row, kind func(*row) string) (all []*group) {
	byName := map[string]*group{}
	for _, r := range rows {
		k := kind(r)
		if k == "" {
			return nil
		}
		g := byName[k]
		if g == nil {
			g = &group{name: k}
			byName[k] = g
			all = append(all, g)
		}
		g.rows = append(g.rows, r)
	}
	return all
}

// shape returns the words of a key in the positions of labels, with * for the
// values between them.
func shape(key string) string {
	parts := strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune(strong, r) })
	if len(parts) == 1 && !strings.ContainsAny(key, strong) {
		head, _, ok := strings.Cut(key, ":")
		if !ok {
			head, _, ok = strings.Cut(key, "_")
		}
		switch {
		case ok && alphabet().MatchString(head):
			return head + " *"
		case isWord(unicode.IsUpper, key) && !ok && !isState(key):
			return key
		}
		return "*"
	}

	label := true
	// Labels are in capitals if the first one is. Parts of a path are not
	// labels.
	capitals := strings.IndexAny(key, strong) == strings.IndexByte(key, '/') ||
		len(parts) > 0 && isWord(unicode.IsUpper, parts[0])
	for i, p := range parts {
		if !label || !isWord(unicode.IsLetter, p) || isState(p) || capitals && !isWord(unicode.IsUpper, p) {
			parts[i], label = "*", true
			continue
		}
		label = false
	}
	return strings.Join(slices.Compact(parts), " ")
}

// isWord reports whether a text is a word of some letters: it may begin with $ or @, and
// have underscores, dashes and spaces.
func isWord(letter func(rune) bool, s string) bool {
	if s != "" && (s[0] == '$' || s[0] == '@') {
		s = s[1:]
	}
	for i, r := range s {
		if !letter(r) && (i == 0 || r != '_' && r != '-' && r != ' ') {
			return false
		}
	}
	return s != ""
}

// states are words that say what state or degree a thing is in, not what it is: values.
var states = []string{
	"active", "inactive", "enabled", "disabled", "pending", "open", "opened", "closed", "new", "draft", "published",
	"archived", "deleted", "created", "updated", "placed", "paid", "unpaid", "shipped", "delivered", "returned",
	"cancelled", "canceled", "completed", "complete", "incomplete", "done", "todo", "in progress", "processing",
	"processed", "failed", "failure", "success", "succeeded", "error", "running", "stopped", "started", "waiting",
	"approved", "rejected", "accepted", "declined", "expired", "suspended", "blocked", "verified", "unverified",
	"true", "false", "yes", "no", "on", "off", "low", "medium", "high", "critical", "public", "private", "online",
	"offline", "available", "unavailable", "booked", "reserved", "sold", "assigned", "unassigned", "resolved",
	"unresolved", "confirmed", "submitted", "queued", "ready", "idle", "live", "normal", "warning",
}

var spaces = strings.NewReplacer("_", " ", "-", " ")

// isState reports whether a word is a state.
func isState(word string) bool {
	if len(word) > 12 {
		return false
	}
	return slices.Contains(states, strings.ToLower(spaces.Replace(word)))
}

// shapeName derives the name of an entity from the shapes of its keys: the words before a value of the sort key,
// otherwise the last word of the partition key.
func shapeName(shapes, table string) string {
	name := ""
	shapes, _, _ = strings.Cut(shapes, "\x00\x00")
	for i, s := range strings.Split(strings.TrimSuffix(shapes, "\x00"), "\x00") {
		words := strings.Fields(s)
		values := slices.Contains(words, "*")
		words = slices.DeleteFunc(words, func(word string) bool { return word == "*" })
		for k, word := range words {
			words[k] = title(word)
		}
		switch n := len(words); {
		case n == 0:
		case i == 0:
			name = words[n-1]
		case values || name == "":
			name = strings.Join(words, "")
		}
	}
	return cmp.Or(name, table)
}

// title converts a word to an entity name: Order for ORDER.
func title(s string) string {
	s = strings.TrimLeft(s, "$@_")
	var b strings.Builder
	start := true
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			start = true
			continue
		case start:
			r = unicode.ToUpper(r)
		case strings.ToUpper(s[:i+1]) == s[:i+1]:
			r = unicode.ToLower(r)
		}
		start = false
		b.WriteRune(r)
	}
	return b.String()
}

var notName = text.Pattern(`[^\pL\pN_ .-]+`)

// entityName returns a unique name for an entity.
func (im *importer) entityName(name string) string {
	name = strings.Join(strings.Fields(notName().ReplaceAllString(name, " ")), " ")
	if name == "" || !unicode.IsLetter([]rune(name)[0]) && name[0] != '_' {
		name = "Item" + name
	}
	if r := []rune(name); len(r) > 80 {
		name = strings.TrimSpace(string(r[:80]))
	}
	unique := name
	for i := 2; im.m.Entity(unique) != nil; i++ {
		unique = name + strconv.Itoa(i)
	}
	return unique
}
