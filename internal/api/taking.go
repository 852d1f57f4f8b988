package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
)

// A funcSink gives items to a function.
type funcSink func(attr.Item)

func (f funcSink) add(it attr.Item) error {
	f(it)
	return nil
}

// taking returns the sink that gives items to take, none if only their number
// is asked for.
func taking(sel *string, take func(attr.Item)) sink {
	if value(sel) == selectCount {
		return nil
	}
	return funcSink(take)
}

// GetItemFunc is GetItem for callers that convert the item themselves and need no
// copy of it: take is called with it, if there is one, and it is valid until
// take returns.
func (s *Service) GetItemFunc(ctx context.Context, in *wire.GetItemInput, take func(attr.Item)) (*wire.ConsumedCapacity, error) {
	g := gettings.Get().(*pooledGetting)
	defer g.release()
	g.to = take
	if err := s.getItem(ctx, in, &g.getting); err != nil {
		return nil, err
	}
	return g.out.ConsumedCapacity, nil
}

// QueryFunc is Query for callers that convert the items themselves and need no
// copies of them: each is given to take, unless only their number is asked
// for, and is valid until take returns. The output has none. After an error
// those that were taken mean nothing.
func (s *Service) QueryFunc(ctx context.Context, in *wire.QueryInput, take func(attr.Item)) (*wire.QueryOutput, error) {
	out, err := s.query(ctx, in, taking(in.Select, take))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ScanFunc is Scan as [Service.QueryFunc] is Query.
func (s *Service) ScanFunc(ctx context.Context, in *wire.ScanInput, take func(attr.Item)) (*wire.ScanOutput, error) {
	out, err := s.scan(ctx, in, taking(in.Select, take))
	if err != nil {
		return nil, err
	}
	return out, nil
}
