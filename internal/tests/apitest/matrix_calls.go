package apitest

import (
	"context"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
)

// A matrixCall is one call of the API.
type matrixCall struct {
	name string
	call func(ctx context.Context, s *subject) error
	// writes is true if the call fails in a View.
	writes bool
	// ends is true if this call may make a call beside it fail: a call of the transaction or, after Close, any call.
	ends bool
	// alone says that the call takes no context and waits until transactions end. Inside a transaction it would wait
	// forever.
	alone bool
}

// matrixMethods are the calls that can be part of a transaction.
var matrixMethods = []matrixCall{
	{name: "Get", call: func(ctx context.Context, s *subject) error {
		_, err := s.items.Get(ctx, "a", 1)
		return err
	}},
	{name: "Put", writes: true, call: func(ctx context.Context, s *subject) error {
		return s.items.Put(ctx, thing{Box: "a", Place: 9, Kind: "blue"})
	}},
	{name: "PutMany", writes: true, call: func(ctx context.Context, s *subject) error {
		return s.items.PutMany(ctx, slices.Values([]thing{{Box: "a", Place: 9, Kind: "blue"}}))
	}},
	{name: "Delete", writes: true, call: func(ctx context.Context, s *subject) error {
		return s.items.Delete(ctx, "a", 0)
	}},
	{name: "Update", writes: true, call: func(ctx context.Context, s *subject) error {
		_, err := s.items.Update(ctx, sortkey.Key{"a", 8}, "SET kind = :kind", "green")
		return err
	}},
	{name: "Query", call: func(ctx context.Context, s *subject) error { return drain(s.items.Query(ctx, "a")) }},
	{name: "QueryPage", call: func(ctx context.Context, s *subject) error {
		_, err := s.items.QueryPage(ctx, "a")
		return err
	}},
	{name: "Scan", call: func(ctx context.Context, s *subject) error { return drain(s.items.Scan(ctx)) }},
	{name: "ScanPage", call: func(ctx context.Context, s *subject) error {
		_, err := s.items.ScanPage(ctx)
		return err
	}},
	{name: "Changes", call: func(ctx context.Context, s *subject) error {
		return drain(s.items.Changes(ctx, "", sortkey.UntilNow))
	}},
	{name: "Index.Query", call: func(ctx context.Context, s *subject) error {
		return drain(s.items.Index("ByKind").Query(ctx, "red"))
	}},
	{name: "Index.QueryPage", call: func(ctx context.Context, s *subject) error {
		_, err := s.items.Index("ByKind").QueryPage(ctx, "red")
		return err
	}},
	{name: "Index.Scan", call: func(ctx context.Context, s *subject) error {
		return drain(s.items.Index("ByKind").Scan(ctx))
	}},
	{name: "Index.ScanPage", call: func(ctx context.Context, s *subject) error {
		_, err := s.items.Index("ByKind").ScanPage(ctx)
		return err
	}},
	{name: "DB.Update", writes: true, call: func(ctx context.Context, s *subject) error {
		return s.db.Update(ctx, func(ctx context.Context) error {
			return s.items.Put(ctx, thing{Box: "a", Place: 7, Kind: "white"})
		})
	}},
	{name: "DB.View", call: func(ctx context.Context, s *subject) error {
		return s.db.View(ctx, func(ctx context.Context) error { return drain(s.items.Query(ctx, "a")) })
	}},
}

// matrixOthers are the calls that run beside a transaction: the methods of a database, the changes of a table that an
// SDK client can request, and one operation of each kind.
var matrixOthers = []matrixCall{
	{name: "Fork", alone: true, call: func(_ context.Context, s *subject) error {
		fork, err := s.db.Fork()
		if err != nil {
			return err
		}
		return fork.Close()
	}},
	{name: "Close", ends: true, alone: true, call: func(_ context.Context, s *subject) error { return s.db.Close() }},
	{name: "Snapshot", call: func(ctx context.Context, s *subject) error {
		return s.db.Snapshot(ctx, filepath.Join(s.dir, "snapshot"))
	}},
	{name: "CreateTable", call: func(ctx context.Context, s *subject) error {
		return s.db.CreateTable(ctx, "New", "box / place:N", sortkey.Local("ByUntil", "until:N"))
	}},
	{name: "DeleteTable", call: func(ctx context.Context, s *subject) error { return s.db.DeleteTable(ctx, "Other") }},
	{name: "DeleteTable, same", ends: true, call: func(ctx context.Context, s *subject) error {
		return s.db.DeleteTable(ctx, "Items")
	}},
	{name: "Tables", call: func(ctx context.Context, s *subject) error {
		_, err := s.db.Tables(ctx)
		return err
	}},
	{name: "Sweep", call: func(ctx context.Context, s *subject) error {
		_, err := s.db.Sweep(ctx)
		return err
	}},
	{name: "HoldIndexes", alone: true, call: func(_ context.Context, s *subject) error {
		return engine.Of(s.db).Tables.HoldIndexes(context.Background())
	}},
	{name: "Backup", call: func(ctx context.Context, s *subject) error { return s.db.Backup(ctx, io.Discard) }},
	{name: "Compact", call: func(ctx context.Context, s *subject) error { return s.db.Compact(ctx) }},
	{name: "Stats", call: func(ctx context.Context, s *subject) error {
		_, err := s.db.Stats(ctx)
		return err
	}},
	{name: "Settle", call: func(_ context.Context, s *subject) error {
		engine.Of(s.db).Tables.Settle()
		return nil
	}},
	{name: "Observe", call: func(_ context.Context, s *subject) error {
		s.db.Observe(unmoved{})()
		return nil
	}},
	{name: "Fail", call: func(_ context.Context, s *subject) error {
		_, lift := engine.Of(s.db).Fail(fault.Fault{Operation: "ListTables", Code: "ThrottlingException"})
		lift()
		return nil
	}},
	{name: "Region", call: func(_ context.Context, s *subject) error {
		s.db.Region()
		return nil
	}},
	{name: "Update", call: func(ctx context.Context, s *subject) error {
		return s.db.Update(ctx, func(ctx context.Context) error {
			return s.items.Put(ctx, thing{Box: "b", Place: 1, Kind: "black"})
		})
	}},
	{name: "View", call: func(ctx context.Context, s *subject) error {
		return s.db.View(ctx, func(ctx context.Context) error { return drain(s.items.Query(ctx, "b")) })
	}},
	{name: "Get", call: func(ctx context.Context, s *subject) error {
		_, err := s.items.Get(ctx, "a", 1)
		return err
	}},
	{name: "Put", call: func(ctx context.Context, s *subject) error {
		return s.items.Put(ctx, thing{Box: "b", Place: 2, Kind: "black"})
	}},
	request("index added", true, "UpdateTable", `{"TableName": "Items",
		"AttributeDefinitions": [{"AttributeName": "until", "AttributeType": "N"}],
		"GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "New", "Projection": {"ProjectionType": "ALL"},
			"KeySchema": [{"AttributeName": "until", "KeyType": "HASH"}]}}]}`),
	request("index deleted", true, "UpdateTable",
		`{"TableName": "Items", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByKind"}}]}`),
	request("expiry on", false, "UpdateTimeToLive",
		`{"TableName": "Other", "TimeToLiveSpecification": {"AttributeName": "until", "Enabled": true}}`),
	request("expiry off", false, "UpdateTimeToLive",
		`{"TableName": "Items", "TimeToLiveSpecification": {"AttributeName": "until", "Enabled": false}}`),
	request("stream on", false, "UpdateTable", `{"TableName": "Other",
		"StreamSpecification": {"StreamEnabled": true, "StreamViewType": "KEYS_ONLY"}}`),
	request("stream off", false, "UpdateTable",
		`{"TableName": "Items", "StreamSpecification": {"StreamEnabled": false}}`),
	request("capacity", false, "UpdateTable", `{"TableName": "Items", "BillingMode": "PROVISIONED",
		"ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9},
		"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByKind",
			"ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}}}]}`),
	request("recovery on", false, "UpdateContinuousBackups",
		`{"TableName": "Items", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}}`),
	request("backup", false, "CreateBackup", `{"TableName": "Items", "BackupName": "friday"}`),
	request("transaction", false, "TransactWriteItems", `{"TransactItems": [{"Put": {"TableName": "Items",
		"Item": {"box": {"S": "b"}, "place": {"N": "3"}}}}]}`),
}

// request returns a call that sends a request as an SDK client does.
func request(name string, ends bool, operation, body string) matrixCall {
	return matrixCall{name: name, ends: ends, call: func(ctx context.Context, s *subject) error {
		out, status := engine.Of(s.db).Service.Serve(ctx, "DynamoDB_20120810."+operation, []byte(body), nil)
		if status != 200 {
			return fmt.Errorf("%s: %s", operation, out)
		}
		return nil
	}}
}

// drain runs a loop to its end or its first error.
func drain[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

type unmoved struct{}

func (unmoved) Begin(context.Context, *sortkey.Event) {}
func (unmoved) End(context.Context, *sortkey.Event)   {}
