package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// An itemPage shows one item, to read and to edit.
type itemPage struct {
	Table, Key, Cursor string
	Found              bool
	JSON               string // indented, unless it is longer than maxIndented
	Plain              bool   // plain JSON, not DynamoDB JSON
	Other              string // address of the item in the other JSON, or ""
	Sum                string // sumOf the item, "" if it does not exist
	Lines              int    // of the box
	Bytes              int
	Back               string
	Box                keyBox
	New                bool // the form is for a new item with any key
	Branches           bool // a person can try changes on a branch
	Undo               []undoRow

	Entity, Color string // by a model, or ""
	Leads         []lead
}

func (s *Server) item(r *http.Request) (string, any, error) {
	t, key, err := s.keyed(r)
	if err != nil {
		return "", nil, err
	}

	p, shown := &itemPage{Table: t.Name, Key: "New item", New: true}, blank(t)
	if key != nil {
		it, err := s.read(r.Context(), t, key)
		if err != nil {
			return "", nil, err
		}
		p = &itemPage{
			Table: t.Name, Key: valuesText(key, t.Key.Attributes()), Cursor: cursorText(key), Found: it != nil,
			Back: "collection?" + query("name", t.Name, "partition", askText(key, t.Key.Partition())),
		}
		if shown = it; it == nil {
			shown = key
		}
	}

	p.Box = boxOf(t, "", "")
	if key != nil {
		p.Box.At = askText(key, t.Key.Partition())
	}
	p.Bytes, p.Plain, p.Branches = shown.Size(), isPlain(shown), s.forks()
	if p.Plain {
		typed := r.FormValue("as") == "dynamodb"
		other := map[bool]string{false: "dynamodb"}[typed]
		p.Plain, p.Other = !typed, "item?"+query("name", t.Name, "key", r.FormValue("key"), "as", other)
	}
	if key != nil {
		p.Undo = s.undoRows(t, key)
	}
	if p.Found {
		p.Sum = sumOf(shown)
		e, leads := s.leads(t.Name, shown)
		if p.Leads = leads; e != nil {
			p.Entity, p.Color = e.Name, s.color(s.kind(t, shown))
		}
	}
	if p.JSON = jsonOf(shown, p.Plain, true); len(p.JSON) > maxIndented {
		p.JSON = jsonOf(shown, p.Plain, false)
	}
	p.Lines = min(strings.Count(p.JSON, "\n")+3, maxLines)
	return "item", p, nil
}

const (
	// maxLines bounds the height of the box in which a person edits an item, in lines.
	maxLines = 24
	// maxIndented bounds the indented JSON of an item, in bytes. With indentation, the JSON of deeply nested lists is
	// many times as long as without.
	maxIndented = 1 << 20
)

// blank returns an item with empty key attributes, for a person to fill in.
func blank(t *keyschema.Table) attr.Item {
	zero, _ := attr.NewNumber("0") // it is one
	var b attr.Builder
	for _, a := range t.Key.Attributes() {
		switch a.Kind {
		case attr.Number:
			b.Add(a.Name, zero)
		case attr.Binary:
			b.Add(a.Name, attr.NewBinary(nil))
		default:
			b.Add(a.Name, attr.NewString(""))
		}
	}
	return b.Item()
}

// keyed returns the table and the key that the address of a request names. On the page of a new item, the address has
// no key, and the result is nil.
func (s *Server) keyed(r *http.Request) (*keyschema.Table, attr.Item, error) {
	t, _, err := s.open(r)
	if err != nil {
		return nil, nil, err
	}
	key, err := cursor(r.FormValue("key"))
	return t, key, err
}

// read reads an item with a consistent read. It returns nil if the item does not exist.
func (s *Server) read(ctx context.Context, t *keyschema.Table, key attr.Item) (attr.Item, error) {
	page, err := operation.Send(ctx, s.opts.Target, &wire.GetItemInput{
		TableName: &t.Name, Key: key, ConsistentRead: new(true),
	})
	if err != nil {
		return nil, &badRequest{err}
	}
	return page.Item, nil
}

// A change is the JSON that a page sends to write an item. Sum is the hash of the old item as the page received it.
// Is is the JSON of the new item.
type change struct {
	Sum, Is string
}

// maxBody bounds the size of a change, in bytes. The bound is large enough for two items with escapes.
const maxBody = 8 << 20

// An edit is a decoded change of one item. The field was holds the item before the change, and the field is the item
// after it. A nil field means that there is no such item.
type edit struct {
	change
	t            *keyschema.Table
	id           string // ID of the table before the write
	key, was, is attr.Item
	moved        bool // the item has changed since the page received it
}

// sent decodes the JSON of a change. It does not read the old item and does not decode the new item: compare does
// both.
func (s *Server) sent(w http.ResponseWriter, r *http.Request) (*edit, error) {
	t, key, err := s.keyed(r)
	if err != nil {
		return nil, err
	}
	e := &edit{t: t, key: key}
	return e, readChange(w, r, &e.change)
}

// compare reads the old item and decodes the new item. It sets e.moved if somebody has changed the old item since the
// page received it.
func (s *Server) compare(ctx context.Context, e *edit) (err error) {
	if e.key != nil {
		if e.was, err = s.read(ctx, e.t, e.key); err != nil {
			return err
		}
	}
	e.moved = sumOf(e.was) != e.Sum
	if e.Is == "" {
		return bad("the text has no item: write one as a JSON object")
	}
	e.is, err = itemOf(e.Is)
	return err
}

// changed calls sent and then compare.
func (s *Server) changed(w http.ResponseWriter, r *http.Request) (*edit, error) {
	e, err := s.sent(w, r)
	if err != nil {
		return nil, err
	}
	return e, s.compare(r.Context(), e)
}

// A previewPage shows what a put would write.
type previewPage struct {
	Moved bool
	Lines []string // cost of the put, and its effect on indexes
	Diffs []difference
	More  int  // number of differences beyond those in Diffs
	Same  bool // nothing would change
}

// preview answers with a description of what a put would write. It does not write the item.
func (s *Server) preview(w http.ResponseWriter, r *http.Request) error {
	e, err := s.changed(w, r)
	if err != nil {
		return err
	}

	p := previewPage{Moved: e.moved}
	was := e.was
	for _, a := range e.t.Key.Attributes() {
		if v := e.is.Get(a.Name); v.Kind() != a.Kind {
			p.Lines = append(p.Lines, fmt.Sprintf(
				"%s must be of type %v: the service would refuse the item", a.Name, a.Kind,
			))
		} else if e.key != nil && !attr.Equal(v, e.key.Get(a.Name)) {
			p.Lines = append(p.Lines, fmt.Sprintf(
				"%s is another: this writes another item, and leaves the old one", a.Name,
			))
			was = nil
		}
	}

	p.Lines = append(p.Lines, text.Count(e.is.Size(), "byte")+", "+units(was, e.is))
	for _, name := range e.t.IndexNames() {
		p.Lines = append(p.Lines, "index "+name+": "+entry(e.t, name, was, e.is))
	}
	p.Diffs, p.More = differences(was, e.is, maxDiffs)
	p.Same = was != nil && len(p.Diffs) == 0
	return replyTemplate(w, "preview", p)
}

// units describes the write units that a put consumes for the table, without those for the indexes.
func units(was, is attr.Item) string {
	n := table.WriteUnits(max(was.Size(), is.Size()))
	return text.Amount(text.Figure(n), "write unit") + " for the table"
}

// entry describes how writing an item changes its row in an index.
func entry(t *keyschema.Table, index string, was, is attr.Item) string {
	schema := t.Schema(index)
	key := func(it attr.Item) (string, bool) {
		var all []string
		for _, a := range schema.Attributes() {
			v := it.Get(a.Name)
			if v.Kind() != a.Kind {
				return "", false
			}
			all = append(all, text.Literal(v))
		}
		return strings.Join(all, ", "), len(it) > 0
	}
	old, had := key(was)
	made, has := key(is)
	switch {
	case !had && !has:
		return "not in it"
	case !had:
		return "a new row, " + made
	case !has:
		return "its row goes, " + old
	case old != made:
		return "its row moves from " + old + " to " + made + ", two writes"
	case was.Equal(is):
		return "nothing changes"
	}
	return "its row may change in place, " + made
}

// The errors with which the console refuses to write a change.
var (
	errMoved = errors.New("somebody has changed the item meanwhile; nothing was written. Load it again")
	errTaken = errors.New("there is an item with this key already; nothing was written. Open it to change it")
)

// put writes an item. It returns an error if somebody has changed the item since the page received it.
func (s *Server) put(w http.ResponseWriter, r *http.Request) error {
	var page *operation.Page
	e, err := s.sent(w, r)
	if err == nil {
		e.id, err = s.tableID(r.Context(), e.t.Name)
	}
	if err == nil {
		err = s.atOnce(r.Context(), func(ctx context.Context) (err error) {
			page, err = s.writeEdit(ctx, e)
			return err
		})
	}
	if err != nil {
		return err
	}

	if !same(e.was, e.is) {
		s.remember(e.t.Name, e.id, "put", step{e.was, e.is})
	}
	w.Header().Set("Content-Location", itemLink(e.t, e.is))
	reply(w, "text/plain", "written, "+text.Amount(text.Figure(page.Units), "write unit"))
	return nil
}

// atOnce calls fn, which reads an item and then writes it. If the database is in this process, atOnce calls fn in a
// transaction, so that nobody can write the item between the read and the write. Otherwise somebody can, and the
// write must have a condition that then fails.
func (s *Server) atOnce(ctx context.Context, fn func(ctx context.Context) error) error {
	if s.opts.DB == nil {
		return fn(ctx)
	}
	var refused error // fn's error; Update would reword it if fn returned it there
	err := s.opts.DB.Update(ctx, func(ctx context.Context) error {
		refused = fn(ctx)
		return nil
	})
	if err != nil {
		return err
	}
	return refused
}

// writeEdit reads the current item and writes the new one, unless the item has changed since the page received it.
func (s *Server) writeEdit(ctx context.Context, e *edit) (*operation.Page, error) {
	if err := s.compare(ctx, e); err != nil {
		return nil, err
	}
	if !keyOf(e.t, e.is).Equal(e.key) {
		e.was = nil // the person has changed the key: create an item with the new key
	} else if e.moved {
		return nil, errMoved
	}

	in, err := s.writeOf(e.t, e.was, e.is)
	if err != nil {
		return nil, err
	}
	page, err := operation.Send(ctx, s.opts.Target, in)
	if _, unmet := operation.Unmet(err); unmet {
		if e.was == nil {
			return nil, errTaken
		}
		return nil, errMoved
	}
	if err != nil {
		return nil, &badRequest{err}
	}
	return page, nil
}

// writeOf returns a request that changes an item from was to is. If was is nil, the request creates the item. If is
// is nil, the request deletes the item. The request has a condition that fails if somebody has changed the values
// that it replaces.
func (s *Server) writeOf(t *keyschema.Table, was, is attr.Item) (wire.Request, error) {
	condition, p := unchanged(t, was)
	switch {
	case is == nil:
		return &wire.DeleteItemInput{
			TableName: &t.Name, Key: keyOf(t, was), ConditionExpression: &condition,
			ExpressionAttributeNames: p.Names(), ExpressionAttributeValues: p.Values(),
			ReturnConsumedCapacity: new("TOTAL"),
		}, nil
	case was != nil:
		in := updateOf(t, was, is)
		if in != nil {
			return in, nil
		}
		if s.opts.DB == nil { // a put would remove attributes that somebody has added since
			return nil, bad("too many attributes change for one request, or one has a name that is too long for it; " +
				"nothing was written. Change fewer at once")
		}
	}
	return &wire.PutItemInput{
		TableName: &t.Name, Item: is, ConditionExpression: &condition,
		ExpressionAttributeNames: p.Names(), ExpressionAttributeValues: p.Values(),
		ReturnConsumedCapacity: new("TOTAL"),
	}, nil
}

// updateOf returns an update of those attributes in which was and is differ. The update fails if somebody has changed
// one of these attributes, but not if somebody has changed others. If the expressions would be too long, updateOf
// returns nil.
func updateOf(t *keyschema.Table, was, is attr.Item) wire.Request {
	p := new(literal.Placeholders)
	conditions := []string{"attribute_exists(" + p.Name(t.Key.Partition()[0].Name) + ")"}
	var set, removed []string
	for _, name := range names(was, is) {
		old, made := was.Get(name), is.Get(name)
		if attr.Equal(old, made) {
			continue
		}
		if len(conditions) == maxCompared || len(name) > maxName {
			return nil
		}
		place := p.Name(name)
		if made.IsZero() {
			removed = append(removed, place)
		} else {
			set = append(set, place+" = "+p.Value(made))
		}
		if old.IsZero() {
			conditions = append(conditions, "attribute_not_exists("+place+")")
		} else {
			conditions = append(conditions, place+" = "+p.Value(old))
		}
	}

	var update []string
	if len(set) > 0 {
		update = append(update, "SET "+strings.Join(set, ", "))
	}
	if len(removed) > 0 {
		update = append(update, "REMOVE "+strings.Join(removed, ", "))
	}
	condition, change := strings.Join(conditions, " AND "), strings.Join(update, " ")
	if max(len(condition), len(change)) > expr.MaxExpressionBytes {
		return nil
	}
	in := &wire.UpdateItemInput{
		TableName: &t.Name, Key: keyOf(t, was), ConditionExpression: &condition,
		ExpressionAttributeNames: p.Names(), ExpressionAttributeValues: p.Values(),
		ReturnConsumedCapacity: new("TOTAL"),
	}
	if change != "" {
		in.UpdateExpression = &change
	}
	return in
}

func same(a, b attr.Item) bool { return (a == nil) == (b == nil) && a.Equal(b) }

// maxCompared is the maximum number of attributes that a condition compares. Each attribute takes two of the
// operators that the service allows: a comparison and an AND.
const maxCompared = expr.MaxOperators / 2

// maxName is the maximum length of an attribute name in an expression, in bytes.
const maxName = 255

// unchanged returns a condition that an item is still equal to was, and the placeholders of the condition. If was is
// nil, the condition is that the item does not exist. The condition compares at most maxCompared attributes, and none
// with a name longer than maxName.
func unchanged(t *keyschema.Table, was attr.Item) (condition string, p *literal.Placeholders) {
	p = new(literal.Placeholders)
	if was == nil {
		return "attribute_not_exists(" + p.Name(t.Key.Partition()[0].Name) + ")", p
	}
	var parts []string
	for name, v := range was.All() {
		if len(parts) == maxCompared {
			break
		}
		if len(name) <= maxName {
			parts = append(parts, p.Name(string(name))+" = "+p.Value(v))
		}
	}
	return strings.Join(parts, " AND "), p
}
