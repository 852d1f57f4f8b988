// Package requestfile reads request files: JSON requests of BatchWriteItem, PutItem and TransactWriteItems, as
// repositories keep them for seed data. A [Reader] yields their writes. [Is] distinguishes such a file from a file of
// items.
//
// A file has one request, several after each other, or a list of requests. A BatchWriteItem may leave out
// RequestItems, as in the files for aws dynamodb batch-write-item --request-items, and even the table name. A request
// may have more writes than the service allows.
//
// A Reader accepts only puts and deletes of whole items without a condition. It does not read the table. So for a
// write that depends on the contents of the table, such as an Update or a ConditionCheck, it returns an error.
package requestfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// A Write is one write of a request.
type Write struct {
	// Line is the line on which the write begins, counted from 1.
	Line int64
	// Table is the table that the request names, or "".
	Table string
	// Item is the item to put, or the key of the item to delete.
	Item   attr.Item
	Delete bool
	// Err is the reason why this write cannot be used, or nil. If it is set, Item is nil, and the Reader can go on.
	Err error

	request bool // it has the form of a write in a request, even if it cannot be used
}

// A Reader reads the writes of a file. It keeps only one write in memory. It is not safe for concurrent use.
type Reader struct {
	dec   *Values
	stack []frame
}

// A frame is the state of an object or a list that is being read.
type frame struct {
	place place
	line  int64
	table string // of a list of writes
	// members are the members of a request, except nulls and lists of writes. batch is true if the request has a list
	// of writes.
	members members
	batch   bool
}

// A place says what a frame contains.
type place int

const (
	requests place = iota // the top level, or a list of requests
	request               // a request object
	tables                // the object of RequestItems
	writes                // the list of writes of a table, or of TransactItems
)

// NewReader returns a Reader of a file. A write may have at most limit bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{dec: NewValues(r, limit), stack: []frame{{place: requests}}}
}

// Next returns the next write, or io.EOF after the last one. After any other error, the rest of the file cannot be
// read.
func (r *Reader) Next() (Write, error) {
	for {
		w, found, err := r.step()
		if err != nil {
			return Write{Line: r.dec.Line()}, r.dec.Explain(err)
		}
		if found {
			w.Err = bound(w.Err)
			return w, nil
		}
	}
}

// step reads the next token or write; found is true if it was a write.
func (r *Reader) step() (w Write, found bool, err error) {
	top := &r.stack[len(r.stack)-1]
	line := r.dec.Line()
	next := r.dec.PeekKind()
	switch {
	case next == ']' || next == '}':
		ended := *top
		if _, err := r.dec.ReadToken(); err != nil {
			return w, false, err
		}
		if r.stack = r.stack[:len(r.stack)-1]; ended.place == request {
			w, found = ended.write()
		}
		return w, found, nil
	case top.place == request || top.place == tables:
		return w, false, r.member(top)
	case top.place == requests && next == '[':
		return w, false, r.enter(frame{place: requests})
	case top.place == requests && next == '{':
		return w, false, r.enter(frame{place: request, line: line, members: members{}})
	}

	raw, err := r.dec.ReadValue()
	if err != nil {
		return w, false, err
	}
	list, ok := membersOf(raw)
	if !ok {
		excerpt := string(raw)
		if len(excerpt) > maxExcerpt {
			excerpt = strings.ToValidUTF8(excerpt[:maxExcerpt], "") + "…"
		}
		err := fmt.Errorf("%s is not a request", excerpt)
		return Write{Line: line, Table: top.table, Err: err}, true, nil
	}
	return list.write(line, top.table), true, nil
}

// maxExcerpt is the maximum length of a value in an error's text, in bytes.
const maxExcerpt = 60

// maxNesting is the maximum depth of nested lists of requests.
const maxNesting = 16

func (r *Reader) enter(f frame) error {
	if len(r.stack) > maxNesting {
		return errors.New("lists of requests are nested too deep")
	}
	r.stack = append(r.stack, f)
	_, err := r.dec.ReadToken()
	return err
}

// member reads the name of a member and its value. If the value contains writes, it reads only the start of the
// value.
func (r *Reader) member(top *frame) error {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	name := tok.String()
	switch next := r.dec.PeekKind(); {
	case top.place == request && name == "RequestItems" && next == '{':
		top.batch = true
		return r.enter(frame{place: tables})
	case top.place == request && name == "TransactItems" && next == '[':
		top.batch = true
		return r.enter(frame{place: writes})
	case next == '[':
		top.batch = true
		return r.enter(frame{place: writes, table: tableName(name)})
	case top.place == tables:
		return fmt.Errorf("the writes of table %s are not a list", name)
	}

	value, err := r.dec.ReadValue()
	if err == nil && value.Kind() != 'n' {
		top.members[name] = value.Clone()
	}
	return err
}

// write returns the write of a request that has ended. If the request is a batch, step has already returned its
// writes: write then returns only an error, if the request has an unknown member.
func (f *frame) write() (w Write, found bool) {
	if !f.batch {
		return f.members.write(f.line, ""), true
	}
	for _, name := range slices.Sorted(maps.Keys(f.members)) {
		if !isSetting(name) {
			return Write{Line: f.line, Err: unknownMember(name)}, true
		}
	}
	return w, false
}

// maxText is the maximum length of an error's text in bytes. The text may contain a name of any length.
const maxText = 500

func bound(err error) error {
	if err == nil || len(err.Error()) <= maxText {
		return err
	}
	return errors.New(text.Clip(err.Error(), maxText))
}

// tableName returns the table name in a request's TableName, which may be an ARN.
func tableName(name string) string {
	if _, after, ok := strings.Cut(name, ":table/"); ok && strings.HasPrefix(name, "arn:") {
		return after
	}
	return name
}
