package sortkey

import (
	"reflect"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// An itemType holds what all tables with items of the Go type T share.
type itemType[T any] struct {
	// callsMethods is true if decoding an item may call methods of the user's types. Such methods may keep pointers
	// to the memory that they decode into, so that memory must not be reused.
	callsMethods bool
	times        []string  // attributes that hold the text of a time.Time
	most         int       // lists with a larger capacity are not reused
	lists        sync.Pool // of *list[T]
}

// itemTypes maps a [reflect.Type] to its *itemType.
var itemTypes sync.Map

func itemTypeOf[T any]() *itemType[T] {
	of := reflect.TypeFor[T]()
	if k, ok := itemTypes.Load(of); ok {
		return k.(*itemType[T])
	}
	k := &itemType[T]{
		callsMethods: hasDecoder(of, map[reflect.Type]bool{}), times: timeAttributes(of),
		most: keepBytes / max(int(of.Size()), 1),
	}
	k.lists.New = func() any {
		l := new(list[T])
		l.visit, l.only = l.add, l.one
		return l
	}
	known, _ := itemTypes.LoadOrStore(of, k)
	return known.(*itemType[T])
}

// A list holds the decoded items of one page until a loop has yielded them or take has returned them. Lists are
// pooled, so nothing else may refer to their memory. Beyond len(items), the array of a list has only zero values.
type list[T any] struct {
	items []T
	end   int                          // the page ends when the list has this many items; 0 means no limit
	wrong error                        // the error of an item that does not fit T, which ends the page
	visit func(attr.Item) (int, error) // the method add, bound once
	only  func(attr.Item)              // the method one, bound once
}

// fewItems is the capacity that a list gets with its first item.
const fewItems = 8

// empty removes all items of a list. It keeps the list's memory, unless the user's methods may refer to it.
func (k *itemType[T]) empty(l *list[T]) {
	l.wrong = nil
	if k.callsMethods {
		l.items = nil
		return
	}
	clear(l.items)
	l.items = l.items[:0]
}

// add decodes an item into the list and returns the item's size. It returns [keycond.ErrEndPage] when the list is
// full, or when the item does not fit T.
func (l *list[T]) add(it attr.Item) (int, error) {
	if cap(l.items) < fewItems {
		l.items = make([]T, 0, fewItems)
	}
	var none T
	l.items = append(l.items, none)
	last := len(l.items) - 1
	if l.wrong = decode(it, &l.items[last]); l.wrong != nil {
		l.items[last] = none
		l.items = l.items[:last]
		return 0, keycond.ErrEndPage
	}
	if len(l.items) == l.end {
		return len(it), keycond.ErrEndPage
	}
	return len(it), nil // the size is only needed for items in JSON responses, so return the length of the item
}

// one decodes an item into the list as its only item. It sets l.wrong if the item does not fit T.
func (l *list[T]) one(it attr.Item) {
	var none T
	l.items = append(l.items[:0], none)
	l.wrong = decode(it, &l.items[0])
}

// keep returns a list to the pool. It drops the list's memory if that is too large.
func (k *itemType[T]) keep(l *list[T]) {
	k.empty(l)
	if cap(l.items) > k.most {
		l.items = nil
	}
	l.end = 0
	k.lists.Put(l)
}

// take returns the items of a list, which the caller may keep. It returns nil if there are none.
func (k *itemType[T]) take(l *list[T]) []T {
	if len(l.items) == 0 {
		return nil
	}
	if !k.callsMethods && cap(l.items) <= k.most { // return a copy, so that keep can reuse the memory
		return append(make([]T, 0, len(l.items)), l.items...)
	}
	items := l.items
	l.items = nil
	return items
}
