package layer

import (
	"context"
	"fmt"
	"strings"
	"unsafe"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/keycond"
)

// A goLayer makes calls as a Go program does: it passes values and gets structs.
type goLayer struct{ data *Data }

// A record is the struct that a Go program would declare for an item.
type record struct {
	PK, SK string
	Number int    `dynamodbav:"n"`
	Flag   string `dynamodbav:"flag"`
	Group  string `dynamodbav:"g,omitempty"`
	State  string `dynamodbav:"st,omitempty"`
	Region string `dynamodbav:"rg,omitempty"`
	Note   string `dynamodbav:"note"`
}

// touch reads every byte of the text, and returns its length.
func (r *record) touch(s *measure.Scratch) (size int) {
	for _, text := range [...]string{r.PK, r.SK, r.Flag, r.Group, r.State, r.Region, r.Note} {
		s.Sum ^= touch(unsafe.Slice(unsafe.StringData(text), len(text)))
		size += len(text)
	}
	s.Sum ^= uint64(r.Number) //nolint:gosec // part of a checksum
	return size
}

// Close implements [Layer].
func (goLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l goLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	records := sortkey.Table[record](l.data.DB, work.TableName)
	switch c.Op {
	case work.Query, work.Scan:
		return l.prepareRead(ctx, records, c)
	case work.Get, work.TransactGet:
		return l.prepareGet(records, c), nil
	}
	return l.prepareWrite(records, c)
}

// prepareGet returns an operation that reads the items of c. If there are several, it reads them with one call, which
// sees one state of the table as a transaction does.
func (l goLayer) prepareGet(records *sortkey.TableOf[record], c *work.Call) measure.Op {
	var keys []sortkey.Key
	var texts [][2]string
	for _, i := range c.Items {
		key := l.data.Shape.KeyBinds(i)
		keys = append(keys, sortkey.Key{key[0].Text, key[1].Text})
		texts = append(texts, [2]string{key[0].Text, key[1].Text})
	}

	if c.Op == work.Get {
		return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
			r, err := records.Get(ctx, texts[0][0], texts[0][1])
			if err != nil {
				return 0, 0, err
			}
			return 1, r.touch(s), nil
		}
	}
	return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
		found, err := records.GetMany(ctx, keys)
		if err != nil {
			return 0, 0, err
		}
		for _, r := range found {
			if r != nil {
				rows++
				size += r.touch(s)
			}
		}
		return rows, size, checkRows(c, rows)
	}
}

func (l goLayer) prepareWrite(records *sortkey.TableOf[record], c *work.Call) (measure.Op, error) {
	var items []record
	size := 0
	for _, i := range c.Items {
		it := l.data.Shape.Item(i, c.Version)
		var r record
		if err := attr.UnmarshalItem(it, &r); err != nil {
			return nil, err
		}
		items = append(items, r)
		size += len(it)
	}

	switch c.Op {
	case work.Put:
		return func(ctx context.Context, _ *measure.Scratch) (int, int, error) {
			return 0, size, records.Put(ctx, items[0])
		}, nil
	case work.Update:
		r := items[0]
		return func(ctx context.Context, s *measure.Scratch) (int, int, error) {
			now, err := records.Update(ctx, sortkey.Key{r.PK, r.SK}, work.UpdateExpression, r.Note)
			return 0, now.touch(s), err
		}, nil
	}
	return func(ctx context.Context, _ *measure.Scratch) (int, int, error) {
		return 0, size, l.data.DB.Update(ctx, func(ctx context.Context) error {
			for _, r := range items {
				if err := records.Put(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
	}, nil
}

func (l goLayer) prepareRead(
	ctx context.Context, records *sortkey.TableOf[record], c *work.Call,
) (measure.Op, error) {
	from := records
	if c.Range.Index != "" {
		from = records.Index(c.Range.Index)
	}
	key, options, opts, err := l.arguments(ctx, records, c)
	if err != nil {
		return nil, err
	}

	page := func(ctx context.Context) (*sortkey.Page[record], error) { return from.ScanPage(ctx, opts...) }
	if c.Op == work.Query {
		for _, o := range opts {
			options = append(options, o)
		}
		page = func(ctx context.Context) (*sortkey.Page[record], error) { return from.QueryPage(ctx, key, options...) }
	}
	return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
		p, err := page(ctx)
		if err != nil {
			return 0, 0, err
		}
		for i := range p.Items {
			size += p.Items[i].touch(s)
		}
		return len(p.Items), size, checkRows(c, len(p.Items))
	}, nil
}

// arguments returns the values of a query's key, and the options of a query or scan.
func (l goLayer) arguments(
	ctx context.Context, records *sortkey.TableOf[record], c *work.Call,
) (key sortkey.Key, options []sortkey.QueryOption, opts []sortkey.Option, err error) {
	r := &c.Range
	values := map[string]any{}
	for _, b := range r.Values {
		values[b.Name] = goValue(work.ItemOf([]work.Bind{b}).Get(b.Name))
	}
	if r.Key != "" {
		if key, options, err = keyArguments(r); err != nil {
			return nil, nil, nil, err
		}
	}

	if r.Filter != "" {
		name := r.Filter[strings.LastIndexByte(r.Filter, ' ')+1:] // the value is the last word of every filter
		opts = append(opts, sortkey.Where(r.Filter, values[name]))
	}
	if r.Limit > 0 {
		opts = append(opts, sortkey.Limit(r.Limit))
	}
	if r.Reverse {
		opts = append(opts, sortkey.Descending)
	}
	if r.Segments > 0 {
		opts = append(opts, sortkey.Segment(r.Segment, r.Segments))
	}
	if r.After >= 0 {
		cursor, err := l.cursor(ctx, records, r.After)
		if err != nil {
			return nil, nil, nil, err
		}
		opts = append(opts, sortkey.After(cursor))
	}
	return key, options, opts, nil
}

// cursor returns the cursor of the page that begins after an item.
func (l goLayer) cursor(ctx context.Context, records *sortkey.TableOf[record], item int) (string, error) {
	key := l.data.Shape.KeyBinds(item)
	page, err := records.QueryPage(ctx, key[0].Text, sortkey.Compare(">=", key[1].Text), sortkey.Limit(1))
	switch {
	case err != nil:
		return "", err
	case page.Cursor == "":
		return "", fmt.Errorf("item %d is the last of its collection", item)
	}
	return page.Cursor, nil
}

// keyArguments returns the values and options that mean the same as the key condition of a range.
func keyArguments(r *work.Range) (key sortkey.Key, options []sortkey.QueryOption, err error) {
	env, err := expr.NewEnv(expr.Params{Values: work.ItemOf(onlyOf(r.Values, r.Key))})
	if err != nil {
		return nil, nil, err
	}
	cond, err := env.Condition(expr.KeyConditionExpression, r.Key)
	if err != nil {
		return nil, nil, err
	}
	clauses, err := keycond.Clauses(cond)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range clauses {
		first := goValue(c.Values[0])
		switch c.Op {
		case "=":
			key = append(key, first)
		case "BETWEEN":
			options = append(options, sortkey.Between(first, goValue(c.Values[1])))
		case "begins_with":
			options = append(options, sortkey.BeginsWith(first))
		default:
			options = append(options, sortkey.Compare(string(c.Op), first))
		}
	}
	return key, options, nil
}

// onlyOf returns those values that an expression uses.
func onlyOf(values []work.Bind, expression string) (used []work.Bind) {
	for _, b := range values {
		if strings.Contains(expression, b.Name) {
			used = append(used, b)
		}
	}
	return used
}

// goValue returns the Go value of an S or an N, a string or a number.
func goValue(v attr.Value) any {
	var value any
	if err := attr.Unmarshal(v, &value); err != nil {
		panic(err) // workloads have only strings and numbers
	}
	if number, ok := value.(float64); ok {
		return int(number)
	}
	return value
}
