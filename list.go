package sortkey

import (
	"reflect"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// An itemType is what the tables with items of one Go type share.
type itemType[T any] struct {
	// callsMethods says that decoding an item may call methods of the user, which may keep what they decode into.
	callsMethods bool
	times        []string  // names of the attributes that are texts of times
	most         int       // the largest capacity of a list that is reused
	lists        sync.Pool // of *list[T]
}

// itemTypes are the item types by their types in Go.
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

// A list is the items of one page while they are read, and until a loop has yielded them. It is pooled; nothing
// keeps a part of it, as items are copied out of it. What lies behind the items is zero.
type list[T any] struct {
	items []T
	end   int                          // how many end the page, 0 for any number
	wrong error                        // of an item that does not fit T, which ends the page
	visit func(attr.Item) (int, error) // the method add, bound once
	only  func(attr.Item)              // the method one, bound once
}

// fewItems is the capacity that a list gets with its first item.
const fewItems = 8

// empty removes all items of a list.
func (k *itemType[T]) empty(l *list[T]) {
	l.wrong = nil
	if k.callsMethods {
		l.items = nil
		return
	}
	clear(l.items)
	l.items = l.items[:0]
}

// add adds an item that was found.
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
	return len(it), nil // its own length: no JSON is made of it
}

// one makes an item the only one, also one that does not fit T.
func (l *list[T]) one(it attr.Item) {
	var none T
	l.items = append(l.items[:0], none)
	l.wrong = decode(it, &l.items[0])
}

// keep puts a list back, with its memory unless that is too large.
func (k *itemType[T]) keep(l *list[T]) {
	k.empty(l)
	if cap(l.items) > k.most {
		l.items = nil
	}
	l.end = 0
	k.lists.Put(l)
}

// take gives the items of a list away for good. It returns nil if there are none.
func (k *itemType[T]) take(l *list[T]) []T {
	if len(l.items) == 0 {
		return nil
	}
	if !k.callsMethods && cap(l.items) <= k.most { // so that keep keeps the memory
		return append(make([]T, 0, len(l.items)), l.items...)
	}
	items := l.items
	l.items = nil
	return items
}
