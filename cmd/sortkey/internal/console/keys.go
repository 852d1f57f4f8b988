package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

const (
	mostKeys  = 12  // keys offered
	mostFound = 200 // the search ends when it has found this number of matching partitions
	// keysTime bounds the search for partitions.
	keysTime = time.Second
)

// A keyBox is a form in which a person types the key of the item or partition to open. The page suggests completions.
type keyBox struct {
	Table, Index    string
	Partition, Sort string // names of the attributes; Sort is "" if there is no sort key
	At              string // partition that the form contains at first, or ""
}

func boxOf(t *keyschema.Table, index, at string) keyBox {
	names := func(all []keycond.Attribute) string {
		var words []string
		for _, a := range all {
			words = append(words, clip(text.Visible(a.Name), maxValue))
		}
		return strings.Join(words, ", ")
	}
	schema := t.Schema(index)
	return keyBox{t.Name, index, names(schema.Partition()), names(schema.Sort()), at}
}

// A keyOffer is a key that completes what a person has typed.
type keyOffer struct {
	Text  string `json:"text"`
	Typed string `json:"typed"` // as a person types it
	Link  string `json:"link"`  // to the item or the partition
}

// keyOffers are the completions of what a person has typed.
type keyOffers struct {
	Keys []keyOffer `json:"keys"`
	All  string     `json:"all,omitempty"` // address of all rows of the partition whose sort keys begin with the text
	Note string     `json:"note"`
}

// keys answers with completions of a partition key. If the request names a partition, it answers with completions of
// a sort key in that partition.
func (s *Server) keys(w http.ResponseWriter, r *http.Request) error {
	t, index, err := s.open(r)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(r.Context(), queryTime)
	defer cancel()
	find := keyFinder{ask.Keys{Target: s.opts.Target, InProcess: s.opts.DB != nil, Table: t, Index: index}}
	var out *keyOffers
	if partition := r.FormValue("partition"); partition != "" {
		out = find.sortKeys(ctx, partition, r.FormValue("prefix"))
	} else {
		out = find.partitions(ctx, r.FormValue("prefix"))
	}

	for i := range out.Keys {
		out.Keys[i].Text = clip(text.Visible(out.Keys[i].Text), maxKey)
	}
	return replyJSON(w, out)
}

// A keyFinder finds the keys that complete a text.
type keyFinder struct{ ask.Keys }

// plainText removes the quotes from what a person has typed as a key. The closing quote may still be missing.
func plainText(typed string) string {
	if typed == "" || typed[0] != '"' && typed[0] != '\'' {
		return typed
	}
	q := typed
	if len(typed) == 1 || typed[len(typed)-1] != typed[0] {
		q += typed[:1] // it is not closed yet
	}
	if s, err := literal.Unquote(q); err == nil {
		return s
	}
	return typed
}

// shownKey returns the text of a key value as a page shows it. A completion must begin with the typed text in this
// form.
func shownKey(v attr.Value) string {
	if v.Kind() == attr.String {
		return string(v.Raw())
	}
	return text.Literal(v)
}

// partitions completes a partition key. A scan does not return partitions in the order of their keys, so partitions
// scans for at most the time keysTime, and collects the keys that begin with the typed text.
func (f *keyFinder) partitions(ctx context.Context, typed string) *keyOffers {
	out := &keyOffers{Keys: []keyOffer{}}
	partition := f.Schema().Partition()
	if len(partition) != 1 {
		out.Note = "separate the values with commas"
		return out
	}
	name, prefix := partition[0].Name, plainText(typed)
	found, looked := map[string]attr.Item{}, 0
	if typed != "" {
		rows, _ := f.Rows(ctx, ask.Query{Partition: []string{typed}, Limit: 1})
		for _, row := range rows {
			found[shownKey(row.Get(name))] = row
		}
	}

	ctx, cancel := context.WithTimeout(ctx, keysTime)
	defer cancel()
	last := ""
	whole := f.Partitions(ctx, func(row attr.Item) bool {
		key := shownKey(row.Get(name))
		if key == last && looked > 0 {
			return true
		}
		looked++
		last = key
		if strings.HasPrefix(key, prefix) {
			found[key] = row
		}
		return len(found) < mostFound
	})

	rows := make([]attr.Item, 0, len(found))
	for _, row := range found {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b attr.Item) int {
		n, _ := attr.Compare(a.Get(name), b.Get(name))
		return n
	})
	switch {
	case len(rows) > 0:
		out.Note = text.Count(len(rows), "partition")
		if !whole {
			out.Note = "some of the partitions"
		}
		rows = rows[:min(len(rows), mostKeys)]
	case looked == 0:
		out.Note = "there are no partitions"
	case whole:
		out.Note = "no partition begins with this"
	default:
		out.Note = "none of the first " + text.Count(looked, "partition") + " begins with this"
	}
	for _, row := range rows {
		out.Keys = append(out.Keys, f.partitionOffer(row))
	}
	return out
}

func (f *keyFinder) partitionOffer(row attr.Item) keyOffer {
	schema := f.Schema()
	typed := askText(row, schema.Partition())
	link := "collection?" + query("name", f.Table.Name, "index", f.Index, "partition", typed)
	if f.Index == "" && len(schema.Sort()) == 0 {
		link = itemLink(f.Table, row)
	}
	return keyOffer{shownKey(row.Get(schema.Partition()[0].Name)), typed, link}
}

// sortKeys completes a sort key in a partition. It returns sort keys that begin with the typed text. If the sort key
// is a number, it returns those that are not less than the typed number.
func (f *keyFinder) sortKeys(ctx context.Context, partition, typed string) *keyOffers {
	out := &keyOffers{Keys: []keyOffer{}}
	of := []string{"name", f.Table.Name, "index", f.Index, "partition", partition}
	out.All = "collection?" + query(of...)
	sort := f.Schema().Sort()
	q, from := ask.Query{Partition: []string{partition}, Limit: mostKeys}, ""
	if len(sort) == 1 && typed != "" {
		if from = conditionOn(sort[0], plainText(typed)); from != "" {
			q.Sort = []string{from}
		}
	}

	rows, more := f.Rows(ctx, q)
	switch {
	case len(rows) == 0 && from != "":
		out.Note = "no sort key of this partition begins with this"
	case len(rows) == 0:
		out.Note = "there are no rows in this partition"
	case more:
		out.Note = "the first " + text.Count(len(rows), "row")
	default:
		out.Note = text.Count(len(rows), "row")
	}
	if from != "" {
		out.All = "collection?" + query(append(of, "sort", from)...)
	}
	for _, row := range rows {
		key := valuesText(row, sort)
		if f.Index != "" {
			key += " · " + valuesText(row, f.Table.Key.Attributes())
		}
		out.Keys = append(out.Keys, keyOffer{key, askText(row, sort), itemLink(f.Table, row)})
	}
	return out
}

// conditionOn returns the sort condition for the keys that begin with prefix. If the key is a number, this is the
// condition for keys that are not less than prefix. If no key can begin with prefix, conditionOn returns "".
func conditionOn(a keycond.Attribute, prefix string) string {
	switch a.Kind {
	case attr.Number:
		v, err := attr.NewNumber(prefix)
		if err != nil {
			return ""
		}
		return ">= " + text.Literal(v)
	case attr.Binary:
		if digits, ok := strings.CutPrefix(prefix, "0x"); !ok || len(digits)%2 != 0 || digits == "" ||
			strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
			return ""
		}
		return "begins_with " + prefix
	}
	return "begins_with " + text.Quote(prefix)
}
