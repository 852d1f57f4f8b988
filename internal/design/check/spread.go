package check

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Spread is what a pattern reads in all partitions that hold rows of its
// entity, not only in the one that its conditions name.
type Spread struct {
	// Partitions is the number of partitions.
	Partitions int `json:"partitions"`
	// P50 and P95 are the partitions that cost no more than half and 5 % of the
	// others. Worst is the one that costs most.
	P50   Reading `json:"p50"`
	P95   Reading `json:"p95"`
	Worst Reading `json:"worst"`
	// readings are all partitions that were read, the worst first.
	readings []Reading
}

// A Reading is what a pattern reads in one partition.
type Reading struct {
	Key     PartitionKey    `json:"partition"`
	Request json.RawMessage `json:"request"`
	// Rows are returned, Examined are read. Bytes includes the items that a
	// local index fetches.
	Rows     int     `json:"rows"`
	Examined int     `json:"examined"`
	Bytes    int     `json:"bytes"`
	Pages    int     `json:"pages"`
	Units    float64 `json:"units"`
	Waste    float64 `json:"waste"`
	// Growth is the number of rows at the declared scale for each row examined.
	Growth float64 `json:"growth"`
}

// declaredRows, declaredUnits and declaredPages are figures at the declared
// scale.
func (r *Reading) declaredRows() float64 { return float64(r.Rows) * r.Growth }
func (r *Reading) declaredUnits() float64 {
	if r.Growth == 1 {
		return r.Units
	}
	blocks := func(bytes float64) float64 { return math.Max(math.Ceil(bytes/(4<<10)), 1) } // units are rounded up
	return r.Units * blocks(float64(r.Bytes)*r.Growth) / blocks(float64(r.Bytes))
}
func (r *Reading) declaredPages() float64 {
	return math.Max(float64(r.Pages), math.Ceil(float64(r.Bytes)*r.Growth/(1<<20)))
}

const (
	// Statistics rank all partitions. Where they are estimates, the highest are
	// read to find the worst.
	likely = 16
	// With a filter, only reading shows what is returned, so up to this many
	// partitions are read, but not more than the bytes.
	readParts = 256
	readBytes = 32 << 20
)

// spread finds what the pattern of a result reads in other partitions.
func spread(
	ctx context.Context, w *world.World, target explain.Target, pr *PatternResult, o Options,
) (*Spread, error) {
	r := pr.Report
	if r == nil || r.Refused != nil || r.Operation == "Scan" {
		return nil, nil
	}
	t := w.Model.Table(r.Table)
	if t == nil || r.Index != "" && t.Index(r.Index) == nil {
		return nil, nil
	}
	space, err := w.Space(ctx, t, t.Index(r.Index))
	if err != nil {
		return nil, err
	}
	s := newSpreader(w, space, pr)
	if s == nil {
		return nil, nil
	}
	if err := s.find(ctx); err != nil || len(s.all) < 2 {
		return nil, err
	}
	slices.SortStableFunc(s.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(float64(b.bytes)*b.growth, float64(a.bytes)*a.growth), cmp.Compare(b.rows, a.rows))
	})
	return s.read(ctx, target, o)
}

// A spreader finds the slices of a pattern in all partitions of a space.
type spreader struct {
	w     *world.World
	space *world.Space
	pr    *PatternResult
	p     *model.Pattern
	grow  world.Growth
	// of are the entities whose partitions the pattern reads; nil among them
	// stands for items of no entity.
	of map[*model.Entity]bool
	// hash are the names in the conditions that fix the partition, free those
	// that take their values from an item of the partition if their own do not
	// occur there, and listed those whose values the model lists.
	hash, free, listed []string
	shared             bool // a name fixes the partition and bounds the range
	// moved is a BETWEEN or begins_with that follows the items of a partition if
	// its own range is empty there, or nil.
	moved     *model.Condition
	all       []candidate
	estimated bool // some candidates have estimates
}

// A candidate is a partition with the size of the pattern's slice there.
type candidate struct {
	item *world.Item // gives the values of the conditions
	row  *world.Row
	own  bool     // only the partition key is from the item
	args []string // of the condition that follows the items, unless own
	// rows and bytes are those of the slice.
	rows, bytes int
	growth      float64
}

func newSpreader(w *world.World, space *world.Space, pr *PatternResult) *spreader {
	s := &spreader{w: w, space: space, pr: pr, p: pr.Pattern, grow: w.Growth(space.Hash), of: map[*model.Entity]bool{}}
	p := s.p
	if p.Entity != nil {
		s.of[p.Entity] = true
	} else {
		for _, e := range pr.Report.Entities {
			s.of[w.Model.Entity(e.Entity)] = true
		}
	}
	get := pr.Report.Operation == "GetItem"
	if p.Request != nil {
		if get || !s.replaceable() {
			return nil
		}
		return s
	}
	for i, c := range p.Where {
		if (c.Op == ast.OpBetween || c.Op == ast.OpBeginsWith) && s.field(c.Field) != nil &&
			s.names(space.Sort, c.Field) {
			s.moved = &p.Where[i]
		}
		if c.Op != ast.Equal {
			continue
		}
		inHash, inSort := s.names(space.Hash, c.Field), s.names(space.Sort, c.Field)
		switch f := s.field(c.Field); {
		case inHash:
			s.hash = append(s.hash, c.Field)
			s.shared = s.shared || inSort
		case !inSort:
		case f != nil && (len(f.Values) > 0 || len(f.Type.Values) > 0):
			s.listed = append(s.listed, c.Field)
		default:
			s.free = append(s.free, c.Field)
		}
	}
	s.shared = s.shared || get
	return s
}

func (s *spreader) field(name string) *model.Field {
	if s.p.Entity == nil {
		return nil
	}
	return s.p.Entity.Field(name)
}

// names reports whether a name in a condition is in key attributes.
func (s *spreader) names(list []model.Attribute, name string) bool {
	for _, a := range list {
		if s.field(name) == nil && a.Name == name {
			return true
		}
	}
	return s.p.Entity != nil && s.p.Entity.ComponentsOf(list)[name]
}

// has reports whether the pattern is about an entity.
func (s *spreader) has(e *model.Entity) bool {
	return e == s.p.Entity && e != nil || s.p.Entity == nil && s.of[e]
}

// find finds all candidates.
func (s *spreader) find(ctx context.Context) error {
	for i, at := range s.space.Parts {
		if i%1024 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		rows := s.space.In(at)
		first := 0
		for first < len(rows) && !s.has(rows[first].Item.Entity) {
			first++
		}
		if first == len(rows) {
			continue
		}
		if !s.shared {
			from, to := s.ownRange(at)
			if from < to || len(s.free) == 0 && s.moved == nil {
				s.add(candidate{item: rows[first].Item, row: &rows[first], own: true}, s.space.Rows[from:to])
				continue
			}
		}
		s.group(rows[first:])
	}
	return nil
}

// ownRange returns the rows of a partition in the range of the pattern's own
// values.
func (s *spreader) ownRange(at world.Part) (from, to int) {
	r := s.pr.Report
	from, to = at.From, at.To
	if r.Low.Bytes != nil {
		from, _ = s.space.Find(at, r.Low.Bytes)
	}
	if r.High.Bytes != nil {
		to, _ = s.space.Find(at, r.High.Bytes)
	}
	return from, max(from, to)
}

// add adds a candidate that reads some rows.
func (s *spreader) add(c candidate, rows []world.Row) {
	r := s.pr.Report
	limited := r.Limit > 0
	if limited && len(rows) > r.Limit {
		if r.Reverse {
			rows = rows[len(rows)-r.Limit:]
		} else {
			rows = rows[:r.Limit]
		}
	}
	c.rows, c.growth = len(rows), 1
	grown := 0.0
	for i := range rows {
		c.bytes += rows[i].Size()
		grown += s.grow.Of(rows[i].Item)
	}
	if len(rows) > 0 && !limited && !oneKey(s.space.Table, r) {
		c.growth = grown / float64(len(rows))
	}
	s.all = append(s.all, c)
}

// group adds the candidate of a partition whose conditions take their values
// from the items there: those with which the pattern reads most.
func (s *spreader) group(rows []world.Row) {
	one := oneKey(s.space.Table, s.pr.Report)
	groups := map[string][]world.Row{}
	var order []string
	for _, r := range rows {
		if !s.has(r.Item.Entity) {
			continue
		}
		if slices.ContainsFunc(s.listed, func(name string) bool {
			c, _ := s.condition(name)
			return s.value(r.Item, c) != c.Args[0]
		}) {
			continue
		}
		key := ""
		for _, name := range s.free {
			c, _ := s.condition(name)
			key += s.value(r.Item, c) + "\x00"
		}
		if s.moved != nil && s.moved.Op == ast.OpBeginsWith {
			key += beginning(s.moved.Args[0], r.Item.Values.Get(s.moved.Field))
		}
		if one {
			key = string(s.space.SortOf(nil, &r))
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	var most []world.Row
	var args []string
	bytes := 0
	for _, key := range order {
		list, of := groups[key], []string(nil)
		if s.moved != nil {
			if list, of = s.window(list); of == nil {
				continue
			}
		}
		if n := sizeOf(list); n > bytes {
			most, args, bytes = list, of, n
		}
	}
	if most == nil {
		return
	}
	s.estimated = true
	s.add(candidate{item: most[0].Item, row: &most[0], args: args}, most)
}

func sizeOf(rows []world.Row) int {
	n := 0
	for i := range rows {
		n += rows[i].Size()
	}
	return n
}

// window returns the rows that the moved condition reads most of, with its
// values there, or nil if the values have no distance.
func (s *spreader) window(rows []world.Row) ([]world.Row, []string) {
	c := s.moved
	if c.Op == ast.OpBeginsWith {
		return rows, []string{beginning(c.Args[0], rows[0].Item.Values.Get(c.Field))}
	}
	low, layout, ok := place(c.Args[0])
	high, _, ok2 := place(c.Args[1])
	if !ok || !ok2 || high < low {
		return nil, nil
	}
	at := make([]float64, len(rows))
	for i := range rows {
		if at[i], _, ok = place(rows[i].Item.Values.Get(c.Field)); !ok {
			return nil, nil
		}
	}
	// Rows are in the order of the key, which need not be that of the values.
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	from, bytes, most, first, last := 0, 0, 0, 0, 0
	for to, i := range order {
		for bytes += rows[i].Size(); at[i]-at[order[from]] > high-low; from++ {
			bytes -= rows[order[from]].Size()
		}
		if bytes > most {
			most, first, last = bytes, from, to+1
		}
	}
	var read []world.Row
	for _, i := range order[first:last] {
		read = append(read, rows[i])
	}
	return read, []string{placeText(at[order[first]], layout), placeText(at[order[first]]+high-low, layout)}
}

// layouts are the text forms of times in conditions.
var layouts = []string{time.RFC3339Nano, time.DateOnly, "2006-01", "2006"}

// place returns a time in seconds or a number, with the layout of a time.
func place(text string) (float64, string, bool) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, "", true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Unix()), layout, true
		}
	}
	return 0, "", false
}

// placeText is the inverse of place, at the precision of seconds.
func placeText(at float64, layout string) string {
	if layout == "" {
		return strconv.FormatFloat(at, 'f', -1, 64)
	}
	return time.Unix(int64(at), 0).UTC().Format(layout)
}

// beginning returns as much of a value as a prefix has of its own: as many
// folders of a path, or as many bytes.
func beginning(prefix, value string) string {
	folders := strings.Count(prefix, "/")
	if folders == 0 {
		return value[:min(len(prefix), len(value))]
	}
	parts := strings.SplitAfter(value, "/")
	return strings.Join(parts[:min(folders, len(parts))], "")
}

func (s *spreader) condition(name string) (model.Condition, bool) {
	for _, c := range s.p.Where {
		if c.Field == name {
			return c, true
		}
	}
	return model.Condition{}, false
}

// value returns the value that an item gives a condition. A condition on a day,
// month or year stays one.
func (s *spreader) value(it *world.Item, c model.Condition) string {
	if s.field(c.Field) == nil {
		return model.TextOf(it.Attributes.Get(c.Field))
	}
	text := it.Values.Get(c.Field)
	for _, layout := range layouts[1:] {
		if _, err := time.Parse(layout, c.Args[0]); err == nil && len(text) > len(layout) {
			if _, err := time.Parse(layout, text[:len(layout)]); err == nil && strings.ContainsAny(text[len(layout):len(layout)+1], "-T") {
				return text[:len(layout)]
			}
		}
	}
	return text
}

// request returns the request of the pattern in the partition of a candidate.
func (s *spreader) request(c candidate) (wire.Request, error) {
	if s.p.Request != nil {
		return s.replace(c), nil
	}
	q := *s.p
	q.Where = slices.Clone(q.Where)
	for i, w := range q.Where {
		if w.Op == ast.Equal && (slices.Contains(s.hash, w.Field) || !c.own && slices.Contains(s.free, w.Field)) {
			q.Where[i].Args = []string{s.value(c.item, w)}
		}
		if !c.own && s.moved != nil && w.Field == s.moved.Field && w.Op == s.moved.Op {
			q.Where[i].Args = c.args
		}
	}
	return compile.Pattern(s.w.Model, &q)
}

// text returns a request of [spreader.request] as JSON.
func (s *spreader) text(in wire.Request) json.RawMessage {
	if s.p.Request != nil {
		return in.AppendJSON(nil)
	}
	return compile.JSON(in)
}

// placeholders returns the placeholders of the partition key's values in a raw
// request, in the order of the key.
func (s *spreader) placeholders() (names []string) {
	in, ok := s.pr.Input.(*wire.QueryInput)
	if !ok || in.KeyConditionExpression == nil {
		return nil
	}
	condition := *in.KeyConditionExpression
	tokens := ast.Lex(nil, condition)
	for _, a := range s.space.Hash {
		for _, c := range s.pr.Report.Clauses {
			if c.Attribute.Name != a.Name {
				continue
			}
			for _, token := range tokens {
				name := token.Text(condition)
				v := in.ExpressionAttributeValues.Get(name)
				if token.Kind == ast.TokValue && !v.IsZero() && attr.Equal(v, c.Values[0]) {
					names = append(names, name)
					break
				}
			}
		}
	}
	return names
}

func (s *spreader) replaceable() bool { return len(s.placeholders()) == len(s.space.Hash) }

// replace returns the raw request with the partition key of a candidate.
func (s *spreader) replace(c candidate) wire.Request {
	names, key := s.placeholders(), PartitionKeyOf(s.space, c.row)
	in := *s.pr.Input.(*wire.QueryInput) // it has placeholders
	var b attr.Builder
	for name, v := range in.ExpressionAttributeValues.All() {
		if i := slices.Index(names, string(name)); i >= 0 {
			v = key[i]
		}
		b.AddBytes(name, v)
	}
	in.ExpressionAttributeValues = b.Item()
	return &in
}

// read reads the candidates that matter.
func (s *spreader) read(ctx context.Context, target explain.Target, o Options) (*Spread, error) {
	n := len(s.all)
	// The candidates are in descending order.
	rank := func(share float64) int { return n - int(math.Ceil(share*float64(n))) }
	p50, p95 := rank(0.5), rank(0.95)
	chosen := map[int]bool{0: true, p50: true, p95: true}
	if s.estimated {
		for i := range min(likely, n) {
			chosen[i] = true
		}
	}
	if s.pr.Report.Filter != "" {
		bytes := 0
		for k := range readParts {
			i := k // the highest first, then evenly
			if n > readParts && k >= readParts/4 {
				i = readParts/4 + (k-readParts/4)*(n-readParts/4)/(readParts*3/4)
			}
			if i >= n || bytes > readBytes {
				break
			}
			bytes += s.all[i].bytes
			chosen[i] = true
		}
	}
	out := &Spread{Partitions: n}
	byRank := map[int]Reading{}
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		r, err := s.reading(ctx, target, s.all[i], o)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		byRank[i] = *r
		out.readings = append(out.readings, *r)
	}
	if len(out.readings) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(out.readings, func(a, b Reading) int {
		return cmp.Or(
			cmp.Compare(b.declaredUnits(), a.declaredUnits()), cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(b.Rows, a.Rows),
		)
	})
	if len(out.readings) == n {
		out.P50, out.P95 = out.readings[p50], out.readings[p95]
	} else {
		out.P50, out.P95 = byRank[p50], byRank[p95]
	}
	out.Worst = out.readings[0]
	return out, nil
}

func (s *spreader) reading(ctx context.Context, target explain.Target, c candidate, o Options) (*Reading, error) {
	in, err := s.request(c)
	if err != nil {
		return nil, nil // such as a value that the template refuses
	}
	q := explain.Question{Input: in}
	rep, err := explain.Run(ctx, target, q, explain.Options{Pages: o.Pages, Items: -1, Brief: true})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, nil
	}
	if rep.Refused != nil {
		return nil, nil
	}
	pr := PatternResult{Pattern: s.p, Report: rep}
	return &Reading{
		Key: PartitionKeyOf(s.space, c.row), Request: s.text(in),
		Rows: rep.Returned, Examined: rep.Examined, Pages: rep.Pages,
		Bytes: rep.Bytes + rep.Fetched, Units: pr.Units(), Waste: pr.Waste(), Growth: c.growth,
	}, nil
}
