package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// ErrReset means that a fault resets the connection of a call. The error of the call wraps it, and [Service.Serve]
// returns status -1.
var ErrReset = errors.New("connection reset on purpose")

func reset() *wire.Error {
	return &wire.Error{Code: "ConnectionReset", Message: ErrReset.Error(), Err: ErrReset}
}

// Faults returns the set of faults that the Service injects into calls.
func (s *Service) Faults() *fault.Set { return &s.faults }

// disturb applies the first fault that matches a call, before the operation runs. It may wait. If it returns an
// error, the operation does not run.
func (s *Service) disturb(ctx context.Context, c *invocation, op wire.Op, in wire.Input) (context.Context, error) {
	call := &fault.Call{
		Operation: op.String(), Tables: tablesOf(in),
		Keys: func(table string) []string { return s.keysOf(ctx, in, table) },
	}
	switch in := in.(type) {
	case *wire.QueryInput:
		call.Index = value(in.IndexName)
	case *wire.ScanInput:
		call.Index = value(in.IndexName)
	}

	e := s.faults.Match(call)
	if e == nil {
		return ctx, nil
	}
	c.lose = e.LoseAnswer
	if e.Delay > 0 || e.Hang {
		if err := s.wait(ctx, e, op.String()); err != nil {
			return ctx, err
		}
	}

	switch {
	case e.Reset:
		return ctx, reset()
	case len(e.Reasons) > 0:
		return ctx, canceled(e.Reasons, in)
	case e.Code != "":
		return ctx, s.faultError(op, call, in, e)
	case e.Unprocessed > 0:
		ctx = context.WithValue(ctx, unprocessedKey{}, e.Unprocessed)
	}

	return ctx, nil
}

// errStopping is the error of a call that a fault delays until the server stops.
var errStopping = wire.ServiceUnavailable("The server is stopping. A fault kept the call waiting.")

// wait delays a call for as long as a fault says. If the context of the call ends, the database is closed or the
// server stops, wait returns early with an error. While wait sleeps, other requests may use the concurrency slot of
// this call.
func (s *Service) wait(ctx context.Context, e *fault.Fault, operation string) error {
	slot := event.CallOf(ctx).Slot
	if slot != nil {
		slot.Leave()
	}

	wait, release := s.faults.Wait(ctx)
	defer release()
	if server := event.CallOf(ctx).Server; server != nil {
		var end context.CancelCauseFunc
		wait, end = context.WithCancelCause(wait)
		defer end(nil)
		defer context.AfterFunc(server, func() { end(errStopping) })()
	}

	if e.Delay > 0 {
		if err := table.Sleep(wait, e.Delay); err != nil {
			return err
		}
	}
	if e.Hang {
		return s.faults.Hang(ctx, wait, operation)
	}
	if slot != nil && !slot.Enter(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// faultTexts has the texts of errors that only faults cause. Sources: API_PutItem, API_TransactWriteItems,
// DG/Programming.Errors.html.
var faultTexts = map[string]string{
	codeProvisioned: msgProvisioned,
	codeThrottling:  "Rate of requests exceeds the allowed throughput.",
	"RequestLimitExceeded": "Throughput exceeds the current throughput limit for your account. " +
		"Please contact AWS Support at https://aws.amazon.com/support request a limit increase",
	"InternalServerError":                      "Internal server error",
	"ServiceUnavailable":                       "The service is currently unavailable or busy.",
	codeConflict:                               msgConflict,
	"TransactionInProgressException":           msgInProgress,
	"ConditionalCheckFailedException":          "The conditional request failed",
	"ItemCollectionSizeLimitExceededException": "Item collection size limit of 10 GB exceeded",
	"LimitExceededException":                   "Subscriber limit exceeded",
	"ResourceInUseException":                   "Attempt to change a resource which is still in use",
	"ResourceNotFoundException":                "Requested resource not found",
	"ValidationException":                      "Validation failed",
	// Reasons of a cancelled transaction.
	"TransactionConflict":             msgConflict,
	"ConditionalCheckFailed":          "The conditional request failed",
	"ProvisionedThroughputExceeded":   msgProvisioned,
	"ThrottlingError":                 msgOnDemand,
	"ItemCollectionSizeLimitExceeded": "Item collection size limit of 10 GB exceeded",
	"ValidationError":                 "Validation failed",
}

// faultError returns the error whose code a fault has. A throttling error names the table and the limit, as the
// service does since 2025 (DG/throttling-diagnosing.html).
func (s *Service) faultError(op wire.Op, call *fault.Call, in wire.Input, e *fault.Fault) error {
	out := wire.NewError(e.Code, cmp.Or(e.Message, faultTexts[e.Code]))
	switch e.Code {
	case wire.CodeUnavailable:
		out.Status = 503
	case codeProvisioned, codeThrottling, "RequestLimitExceeded":
		kind := "ProvisionedThroughputExceeded"
		if e.Code == "RequestLimitExceeded" {
			kind = "AccountLimitExceeded"
		}
		of := ""
		if len(call.Tables) > 0 {
			of = call.Tables[0]
		}
		out.Throttling = s.throttling(of, call.Index, writes(op, in), kind)
	}

	return out
}

// writes reports whether a request writes items. For a request with PartiQL statements, it reports whether at least
// one statement writes.
func writes(op wire.Op, in wire.Input) bool {
	return op.Writes() || slices.ContainsFunc(statementsOf(in), partiql.Writes)
}

// canceled returns the error of a cancelled transaction, which has a reason for each action. codes[i] is the code of
// action i. If it is "" or missing, the action gets the code None.
func canceled(codes []string, in wire.Input) error {
	actions := 0
	switch in := in.(type) {
	case *wire.TransactGetItemsInput:
		actions = len(in.TransactItems)
	case *wire.TransactWriteItemsInput:
		actions = len(in.TransactItems)
	case *wire.ExecuteTransactionInput:
		actions = len(in.TransactStatements)
	}
	reasons := make([]wire.CancellationReason, max(len(codes), actions))
	for i := range reasons {
		if i >= len(codes) || codes[i] == "" || codes[i] == "None" {
			reasons[i].Code = new("None")
			continue
		}
		reasons[i].Code, reasons[i].Message = &codes[i], new(faultTexts[codes[i]])
	}
	return wire.TransactionCanceled(reasons)
}

// keysOf returns the key attribute values of the items that an input names, as text. It returns those of the given
// table, or of all tables if table is "".
func (s *Service) keysOf(ctx context.Context, in wire.Input, table string) (keys []string) {
	for ref := range refs(in) {
		if table != "" && nameOf(ref.Table) != table {
			continue
		}
		key := ref.Key
		if ref.Item != nil {
			t, err := s.lookup(s.defined(ctx), &ref.Table)
			if err != nil {
				continue
			}
			if key, err = t.KeyOf(ref.Item); err != nil {
				continue
			}
		}

		for _, v := range key.All() {
			if v.Kind() == attr.Number {
				keys = append(keys, string(v.AppendNumber(nil)))
			} else {
				keys = append(keys, string(v.Raw()))
			}
		}
	}
	return keys
}

type unprocessedKey struct{}

// leave removes the last requests from a batch, if a fault asks to leave them unprocessed. It returns the requests to
// run and the removed requests, both by table.
func leave[T any](ctx context.Context, requests map[string][]T) (now, left map[string][]T) {
	n, _ := ctx.Value(unprocessedKey{}).(int)
	if n == 0 {
		return requests, nil
	}
	now, left = maps.Clone(requests), map[string][]T{}
	names := slices.Sorted(maps.Keys(requests))
	slices.Reverse(names)
	for _, name := range names {
		list := requests[name]
		kept := len(list) - min(n, len(list))
		if kept == len(list) {
			break
		}
		n -= len(list) - kept
		now[name], left[name] = list[:kept], list[kept:]
		if kept == 0 {
			delete(now, name)
		}
	}

	return now, left
}
