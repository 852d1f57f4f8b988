package metrics

import (
	"io"
	"slices"
)

// MaxTables is the number of tables that a [Request] names; a batch or
// transaction may write to more.
const MaxTables = 8

// maxName is the length of the longest name of a table, its ARN.
const maxName = 1024

// A body counts what is read of a request's body, and finds tables in it.
type body struct {
	io.ReadCloser
	n     int64
	names *nameScanner // nil if they are not wanted
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	if b.names != nil {
		b.names.scan(p[:n])
	}
	return n, err
}

// A nameScanner finds the names of tables in a request as it goes by: the
// TableName of the request and of each part of a transaction, and the keys of
// the RequestItems of a batch. It keeps nothing else, and is at ease with
// anything that is not JSON.
type nameScanner struct {
	names []string

	depth   int
	objects [5]bool // whether the value at depth 1 … 4 is an object
	key     bool    // the next string is a key
	quoted  bool
	escaped bool
	odd     bool   // the string has escapes or is too long
	text    []byte // of the string
	member  member // of the request
	inTable bool   // in the TableName of a part of a transaction
	done    bool
}

type member uint8

const (
	otherMember member = iota
	tableName
	requestItems
	transactItems
)

func (s *nameScanner) scan(p []byte) {
	for _, c := range p {
		if s.done {
			return
		}
		switch {
		case s.quoted && s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped, s.odd = true, true
		case s.quoted && c == '"':
			s.quoted = false
			s.end()
		case s.quoted && len(s.text) < maxName:
			s.text = append(s.text, c)
		case s.quoted:
			s.odd = true
		default:
			s.mark(c)
		}
	}
}

// mark takes a character outside strings.
func (s *nameScanner) mark(c byte) {
	switch c {
	case '"':
		s.quoted, s.odd, s.text = true, false, s.text[:0]
	case '{', '[':
		s.depth++
		if s.depth < len(s.objects) {
			s.objects[s.depth] = c == '{'
		}
		s.key = c == '{'
	case '}', ']':
		s.depth--
		s.done = s.depth <= 0
		s.key = false
	case ':':
		s.key = false
	case ',':
		s.key = s.depth < len(s.objects) && s.objects[s.depth]
	}
}

// end takes a string that has ended.
func (s *nameScanner) end() {
	switch {
	case s.depth < 1 || s.depth >= len(s.objects) || !s.objects[s.depth]:
	case s.depth == 1 && s.key:
		s.member = otherMember
		switch string(s.text) {
		case "TableName":
			s.member = tableName
		case "RequestItems":
			s.member = requestItems
		case "TransactItems":
			s.member = transactItems
		}
	case s.depth == 1:
		if s.member == tableName {
			s.add()
			s.done = true
		}
	case s.depth == 2 && s.key && s.member == requestItems:
		s.add()
	case s.depth == 4 && s.key:
		s.inTable = s.member == transactItems && string(s.text) == "TableName"
	case s.depth == 4 && s.inTable:
		s.add()
	}
}

func (s *nameScanner) add() {
	if s.odd || len(s.text) == 0 || slices.Contains(s.names, string(s.text)) {
		return
	}
	for _, c := range s.text { // names and ARNs have no others
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '-', c == '.', c == ':', c == '/':
		default:
			return
		}
	}
	s.names = append(s.names, string(s.text))
	s.done = len(s.names) == MaxTables
}
