package transfer

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sortkey/sortkey/attr"
)

// Each yields the items of a source, file by file. If a record is not an item, Each yields an error that has a method
// Rejected, and continues. After any other error it stops. It skips records that delete items.
func (s *Source) Each() iter.Seq2[attr.Item, error] {
	return func(yield func(attr.Item, error) bool) {
		for _, f := range s.Files {
			more, err := s.itemsIn(f.Path, yield)
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", f.Path, err))
				return
			}
			if !more {
				return
			}
		}
	}
}

// itemsIn yields the items of a file. If yield returns false, itemsIn stops and returns false.
func (s *Source) itemsIn(path string, yield func(attr.Item, error) bool) (more bool, err error) {
	in, err := openInput(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	r, err := NewReader(in, path, s.reading(ReadOptions{}))
	if err != nil {
		return false, err
	}
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case rec.Delete:
			continue
		}
		if !yield(rec.Item, rec.Err) {
			return false, nil
		}
	}
}
