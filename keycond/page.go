package keycond

import (
	"errors"
	"iter"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/store"
)

// PageBytes is the size at which a page ends. A page reads items until their documented sizes add up to PageBytes or
// more, so it contains the item that reaches the limit. DynamoDB does not document where exactly a page ends
// (DG/Query.Pagination.html says 1 MB).
const PageBytes = 1 << 20

// ErrEndPage ends a page. The function that visits items returns it for the last item that the page should contain.
// Use it when a response has a limit of its own.
var ErrEndPage = errors.New("keycond: end of page")

// PageOptions say which part of a slice a page reads. The zero PageOptions read up to 1 MB from the start of the
// slice.
type PageOptions struct {
	// Start is the key of the item after which the page begins, such as Last of the page before; the item need not
	// exist. If Start is nil, the page begins where the slice does.
	Start attr.Item
	// Reverse reads in descending order.
	Reverse bool
	// Limit is the most items to examine. With 0 or less there is no limit.
	Limit int
	// Filter decides which of the examined items the page contains; nil keeps all.
	Filter *expr.Condition
	// Examine, if not nil, is called with each item before the filter. If it returns an error, Page returns it.
	Examine func(attr.Item) error
}

// A Page says what one page has read. While Last is not nil, it is the Start of the next page.
type Page struct {
	// Examined counts the items read, Returned those that passed the filter.
	Examined, Returned int
	// Bytes is the documented size of the items examined.
	Bytes int
	// Last is the key of the last item examined, or nil when the page reached the end.
	Last attr.Item
	// Stop says why the page ended.
	Stop Stop
}

// A Stop is a reason for the end of a page.
type Stop string

// The reasons for a page to end.
const (
	StopEnd    Stop = "end"
	StopLimit  Stop = "limit"
	StopSize   Stop = "size"
	StopAnswer Stop = "answer" // the visiting function returned ErrEndPage
)

// String returns the reason in words, as traces print it.
func (s Stop) String() string {
	switch s {
	case StopEnd:
		return "end of the range"
	case StopLimit:
		return "Limit"
	case StopSize:
		return "1 MB"
	case StopAnswer:
		return "length of the answer"
	}
	return string(s)
}

// Page reads one page of the slice: it calls visit with each item in order, until the end, Limit or [PageBytes]. If
// visit is nil, Page only counts the items. The items are valid until visit returns. If visit returns an error, the
// query ends with this error; if visit returns [ErrEndPage], the page ends. For a start key outside the slice, Page
// returns an [*Error].
//
// The slice must come from [Compile] or [Of].
func (s *Slice) Page(
	r store.Reader, space store.Space, o PageOptions, visit func(attr.Item) error,
) (Page, error) {
	if s.schema == nil {
		return Page{}, errors.New("keycond: a page of a slice that neither Compile nor Of has made")
	}
	if o.Start != nil {
		partition, sort, err := s.schema.Place(o.Start)
		switch {
		case err != nil:
			return Page{}, err
		case !s.Contains(partition, sort):
			return Page{}, refuse(msgStartOutside)
		}
		s = s.After(sort, o.Reverse)
	}
	return s.schema.Page(s.Rows(r, space, o.Reverse), o, visit)
}

// Page is [Slice.Page] for the rows of a whole table or index, such as those of [store.Reader.Scan]. The rows must
// lie at the addresses that [Schema.Place] returns. The caller chooses where rows begins and in which order; Page
// ignores Start and Reverse.
func (s *Schema) Page(
	rows iter.Seq2[store.Row, error], o PageOptions, visit func(attr.Item) error,
) (Page, error) {
	p := pagers.Get().(*pager)
	defer p.release()
	p.schema, p.o, p.visit, p.page.Stop = s, o, visit, StopEnd
	rows(p.next)
	if p.err != nil {
		return Page{}, p.err
	}
	return p.page, nil
}

// A pager reads one page, item by item. Pagers are pooled, so nothing may keep a part of one.
type pager struct {
	schema *Schema
	o      PageOptions
	visit  func(attr.Item) error
	page   Page
	err    error
	next   func(store.Row, error) bool // the method value p.row; making one for each page would allocate
}

var pagers = sync.Pool{New: func() any {
	p := new(pager)
	p.next = p.row
	return p
}}

func (p *pager) release() {
	*p = pager{next: p.next}
	pagers.Put(p)
}

// row handles one row. It returns false when the page is done.
func (p *pager) row(row store.Row, err error) bool {
	if err != nil {
		p.err = err
		return false
	}
	return p.take(attr.Item(row.Value))
}

// take handles one item. It returns false when the page is done.
func (p *pager) take(it attr.Item) bool {
	page := &p.page
	page.Examined++
	page.Bytes += it.Size()
	if p.o.Examine != nil {
		if p.err = p.o.Examine(it); p.err != nil {
			return false
		}
	}

	ended := false
	if p.o.Filter.Match(it) {
		page.Returned++
		if p.visit != nil {
			if err := p.visit(it); err != nil {
				if ended = errors.Is(err, ErrEndPage); !ended {
					p.err = err
					return false
				}
			}
		}
	}

	switch {
	case ended:
		page.Stop = StopAnswer
	case page.Examined == p.o.Limit:
		page.Stop = StopLimit
	case page.Bytes >= PageBytes:
		page.Stop = StopSize
	default:
		return true
	}
	page.Last = p.schema.Key(it)
	return false
}
