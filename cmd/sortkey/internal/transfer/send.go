package transfer

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey/internal/sdkvalue"
)

const (
	batchWrites = 25 // the service's limit for BatchWriteItem
	// batchBytes bounds the size of a batch. The service limits a request to 16 MB.
	batchBytes = 2 << 20
)

// A sender writes to a table of an endpoint.
type sender struct {
	retry   *retrier
	table   string
	workers int
}

// write writes the entries of parts with several concurrent requests. If several entries have the same key, it sends
// only the last of them, because the service rejects a batch with two writes to the same key. If the endpoint rejects
// an entry, write stores the reason in the entry.
func (s *sender) write(ctx context.Context, parts []part) error {
	index := map[string]int{}
	var keys [][]*entry // the entries of each key, in the order of the file
	for _, p := range parts {
		for i := range p.entries {
			e := &p.entries[i]
			at, ok := index[e.key]
			if !ok {
				at = len(keys)
				index[e.key], keys = at, append(keys, nil)
			}
			keys[at] = append(keys[at], e)
		}
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan [][]*entry)
	var workers sync.WaitGroup
	for range s.workers {
		workers.Go(func() {
			for batch := range batches {
				if err := s.batch(ctx, batch); err != nil {
					cancel(err)
				}
			}
		})
	}
	size, first := 0, 0
	for i, list := range keys {
		more := len(list[len(list)-1].item)
		if i-first == batchWrites || i > first && size+more > batchBytes {
			batches <- keys[first:i]
			size, first = 0, i
		}
		size += more
	}
	if first < len(keys) {
		batches <- keys[first:]
	}
	close(batches)
	workers.Wait()
	return context.Cause(ctx)
}

// batch writes the last entry of each key in one batch. If the endpoint rejects the batch, it sends all entries of
// these keys one by one, in the order of the file. If the endpoint rejects only the last entry of a key, it thus
// still has the one before.
func (s *sender) batch(ctx context.Context, keys [][]*entry) error {
	if ctx.Err() != nil { // another batch has failed
		return context.Cause(ctx)
	}
	batch := make([]types.WriteRequest, len(keys))
	for i, list := range keys {
		if e := list[len(list)-1]; e.remove {
			batch[i].DeleteRequest = &types.DeleteRequest{Key: sdkvalue.Of(e.item)}
		} else {
			batch[i].PutRequest = &types.PutRequest{Item: sdkvalue.Of(e.item)}
		}
	}
	if err := s.retry.write(ctx, s.table, batch); !rejected(err) {
		return err
	}

	for _, list := range keys {
		for _, e := range list {
			err := s.one(ctx, e)
			if !rejected(err) && err != nil {
				return err
			}
			if err != nil {
				e.at.Reason = rejectReason(err)
			}
		}
	}
	return nil
}

func (s *sender) one(ctx context.Context, e *entry) (err error) {
	if e.remove {
		_, err = call(ctx, s.retry, s.retry.client.DeleteItem, &dynamodb.DeleteItemInput{
			TableName: &s.table, Key: sdkvalue.Of(e.item),
		})
		return err
	}
	_, err = call(ctx, s.retry, s.retry.client.PutItem, &dynamodb.PutItemInput{
		TableName: &s.table, Item: sdkvalue.Of(e.item),
	})
	return err
}

// write writes at most batchWrites items. If the endpoint leaves some of them unprocessed, write sends these again.
// No two items may have the same key.
func (r *retrier) write(ctx context.Context, table string, left []types.WriteRequest) error {
	return r.do(ctx, func() error {
		out, err := r.client.BatchWriteItem(
			ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: left}}, once,
		)
		if err != nil {
			return err
		}
		before := len(left)
		if left = out.UnprocessedItems[table]; len(left) > 0 {
			return &unprocessed{left: len(left), some: len(left) < before}
		}
		return nil
	})
}

// rejected reports whether the endpoint has rejected the data of a request, so that a retry would fail too.
func rejected(err error) bool {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		switch e.ErrorCode() {
		case "ValidationException", "SerializationException", "ItemCollectionSizeLimitExceededException",
			"RequestEntityTooLarge", "RequestEntityTooLargeException":
			return true
		}
	}
	resp, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && resp.HTTPStatusCode() == http.StatusRequestEntityTooLarge
}

func rejectReason(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok && e.ErrorMessage() != "" {
		return reason(errors.New(e.ErrorMessage()))
	}
	return reason(err)
}
