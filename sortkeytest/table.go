package sortkeytest

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
)

// Table creates a table with on-demand billing. The key names the partition key
// and, after a slash, the sort key: "customer / order". An attribute is a
// string unless a type follows its name: "sensor / second:N". Use
// [DB.CreateTable] for everything else.
func (db *DB) Table(name, key string, indexes ...Index) {
	db.t.Helper()
	opts := make([]sortkey.TableOption, len(indexes))
	for i, ix := range indexes {
		opts[i] = ix
	}
	db.must(db.DB.CreateTable(quiet, name, key, opts...), "table %s: ", name)
}

// CreateTable creates a table from the input that the program or its deployment uses; [DB.Table] is shorter. The
// table can be used when CreateTable returns, whatever the TableDelay in the options. Billing is on demand unless the
// input has a billing mode or a throughput.
func (db *DB) CreateTable(in *dynamodb.CreateTableInput) {
	db.t.Helper()
	if in == nil {
		db.t.Fatalf("sortkeytest: the input of CreateTable is nil")
	}
	own := *in
	if own.BillingMode == "" && own.ProvisionedThroughput == nil {
		own.BillingMode = types.BillingModePayPerRequest
	}
	_, err := db.Client.CreateTable(quiet, &own)
	db.must(err, "table %s: ", aws.ToString(in.TableName))
}

// An Index is a secondary index of [DB.Table]. [Global] and [Local] make one.
type Index = sortkey.Index

// Global returns a global secondary index, as [sortkey.Global] does.
func Global(name, key string) Index { return sortkey.Global(name, key) }

// Local returns a local secondary index, as [sortkey.Local] does. sort is its sort key.
func Local(name, sort string) Index { return sortkey.Local(name, sort) }
