package convert

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A sampler keeps some of the items that it is offered, whatever their number: of each shape
// of keys a share, and of those of one shape each with the same probability. So an entity
// with few items is not lost among those of another.
type sampler struct {
	strata map[string]*stratum
	order  []*stratum
	rng    *rand.Rand
	most   int // items to keep in all
	bytes  int // of the items that are kept
	seen   int
}

// A stratum has the items of one shape.
type stratum struct {
	seen int
	kept []offered
}

// An offered is an item with the table that it belongs to.
type offered struct {
	t   *model.Table
	it  attr.Item
	n   *node
	seq int
}

const (
	// maxStrata limits the shapes that are told apart.
	maxStrata = 500
	// keptBytes limits the memory of the items that are kept.
	keptBytes = 128 << 20
)

func newSampler(most int) *sampler {
	return &sampler{
		strata: map[string]*stratum{},
		rng:    rand.New(rand.NewPCG(1, 2)), //nolint:gosec // no secret
		most:   most,
	}
}

// kindOf returns what tells the kind of an item: the words in its keys, and the attribute
// that names it.
func (o offered) kind() string {
	kind := o.t.Name + "\x00" + shapes(o.t, &row{it: o.it})
	for _, name := range kindAttributes {
		if v := o.it.Get(name); v.Kind() == attr.String && len(v.Raw()) < 50 {
			return kind + "\x00" + string(v.Raw())
		}
	}
	return kind
}

// offer offers an item, which it copies if it keeps it.
func (s *sampler) offer(o offered) {
	o.seq = s.seen
	s.seen++
	kind := o.kind()
	st := s.strata[kind]
	if st == nil && len(s.strata) >= maxStrata {
		kind = ""
		st = s.strata[kind]
	}
	if st == nil {
		st = &stratum{}
		s.strata[kind] = st
		s.order = append(s.order, st)
	}
	st.seen++

	most := max(20, 4*s.most/len(s.strata))
	if s.seen <= s.most {
		most = s.most // all of a small table
	}
	if len(st.kept) > 0 && s.bytes > keptBytes {
		most = len(st.kept)
	}
	at := len(st.kept)
	switch {
	case at < most && at == st.seen-1:
		st.kept = append(st.kept, offered{})
	default:
		if at = s.rng.IntN(st.seen); at >= min(len(st.kept), most) {
			return
		}
	}
	s.bytes += len(o.it) - len(st.kept[at].it)
	o.it = slices.Clone(o.it)
	st.kept[at] = o
}

// sample returns the items to import, in the order in which they were offered.
func (s *sampler) sample() (all []offered) {
	rest := slices.Clone(s.order)
	slices.SortStableFunc(rest, func(a, b *stratum) int { return cmp.Compare(len(a.kept), len(b.kept)) })
	left := s.most
	for i, st := range rest {
		n := min(len(st.kept), left/(len(rest)-i))
		all = append(all, st.kept[:n]...)
		left -= n
	}
	slices.SortFunc(all, func(a, b offered) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// A Stream is the items of a table, in any number. It is read twice, and an item is valid
// until the next one.
type Stream struct {
	// Table is the name of the table, or "" if it is the only one that has the keys of the
	// items.
	Table string
	Items iter.Seq2[attr.Item, error]
}

// offers returns the items of a stream with their tables.
func (im *importer) offers(s Stream, lost func(why string)) iter.Seq2[offered, error] {
	return func(yield func(offered, error) bool) {
		for it, err := range s.Items {
			if err != nil {
				yield(offered{}, err)
				return
			}
			t := im.m.Table(s.Table)
			if t == nil {
				var several bool
				if t, several = im.tableOf(it, s.Table); t == nil || several {
					lost("no table, or several, have their keys")
					continue
				}
			}
			if !yield(offered{t: t, it: it}, nil) {
				return
			}
		}
	}
}
