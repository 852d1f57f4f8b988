// Package requestfile reads request files, in which repositories keep seed data: the JSON
// of requests of BatchWriteItem, PutItem and TransactWriteItems. A [Reader] yields their
// writes, and [Is] distinguishes such a file from one of items.
//
// A file has one request, several after each other, or a list of them. The writes of a
// BatchWriteItem may be without RequestItems around them, as in the files that
// aws dynamodb batch-write-item --request-items takes, and without their table. They may
// be more than the service takes at once.
//
// Only writes of whole items are read. A write that depends on what is in the table is
// refused, as whoever reads the file does not look: one with a condition, an Update, a
// ConditionCheck.
package requestfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// A Write is one write of a request.
type Write struct {
	// Line is the number of its first line, from 1.
	Line int64
	// Table is the table that the request names, or "".
	Table string
	// Item is the item to put, or the key of the one to delete.
	Item   attr.Item
	Delete bool
	// Err refuses the write; Item is nil then. Reading continues.
	Err error
}

// A Reader reads the writes of a file. It keeps one write in memory. It is not safe for
// concurrent use.
type Reader struct {
	src   *source
	dec   *jsontext.Decoder
	stack []frame
}

// A frame is an object or a list that is being read.
type frame struct {
	place place
	line  int64
	table string // of writes
	// members are the members of a request that are not lists of writes. A batch has lists of writes.
	members members
	batch   bool
}

// A place is a place in a file.
type place int

const (
	requests place = iota // the file, or a list of requests
	request               // an object
	tables                // the object of RequestItems
	writes                // the list of writes of a table, or of TransactItems
)

// NewReader returns a reader of a file. No write is longer than limit, in bytes.
func NewReader(r io.Reader, limit int) *Reader {
	src := &source{r: r, limit: int64(limit), line: 1}
	src.allow(0)
	return &Reader{src: src, dec: jsontext.NewDecoder(src), stack: []frame{{place: requests}}}
}

// Next returns the next write, and io.EOF after the last one. After any other error the
// rest of the file cannot be read.
func (r *Reader) Next() (Write, error) {
	for {
		w, found, err := r.step()
		if err != nil {
			return Write{Line: r.line()}, r.explain(err)
		}
		if found {
			w.Err = bound(w.Err)
			return w, nil
		}
	}
}

// line returns the line of the next value.
func (r *Reader) line() int64 {
	r.dec.PeekKind() // skips white space
	at := r.dec.InputOffset() + int64(leading(r.dec.UnreadBuffer()))
	r.src.allow(at)
	return r.src.lineAt(at)
}

// leading returns how many bytes before a value separate it from the one before.
func leading(text []byte) int {
	for i, c := range text {
		if strings.IndexByte(" \t\r\n,:", c) < 0 {
			return i
		}
	}
	return len(text)
}

// step reads the next token or write.
func (r *Reader) step() (w Write, found bool, err error) {
	top := &r.stack[len(r.stack)-1]
	line := r.line()
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
		err := fmt.Errorf("%s is not a request", text.Clip(string(raw), 60))
		return Write{Line: line, Table: top.table, Err: err}, true, nil
	}
	return list.write(line, top.table), true, nil
}

// maxNesting bounds how deep lists of requests are nested.
const maxNesting = 16

func (r *Reader) enter(f frame) error {
	if len(r.stack) > maxNesting {
		return errors.New("lists of requests are nested too deep")
	}
	r.stack = append(r.stack, f)
	_, err := r.dec.ReadToken()
	return err
}

// member reads the name of a member and, unless it has writes, its value.
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
	if err == nil {
		top.members[name] = value.Clone()
	}
	return err
}

// write returns the write of a request that has ended. The writes of a batch have been read.
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

// explain adds the line to an error that ends reading.
func (r *Reader) explain(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && len(r.stack) > 1:
		return errors.New("file ends inside a request")
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, errLong):
		return fmt.Errorf("line %d: longer than %d bytes; nothing after it can be read", r.src.line, r.src.limit)
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("line %d: %w; nothing after it can be read", r.src.lineAt(e.ByteOffset), e.Err)
	}
	return bound(err)
}

// maxText bounds the text of an error, which may be about a name of any length.
const maxText = 500

func bound(err error) error {
	if err == nil || len(err.Error()) <= maxText {
		return err
	}
	return errors.New(text.Clip(err.Error(), maxText))
}

// tableName returns the name of a table that a request names, perhaps by its ARN.
func tableName(name string) string {
	if _, after, ok := strings.Cut(name, ":table/"); ok && strings.HasPrefix(name, "arn:") {
		return after
	}
	return name
}
