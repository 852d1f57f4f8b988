// Package layer runs the same calls on one table at every layer of the stack: bare engine, store, keycond, table, the
// store in Go, api, HTTP and AWS SDK.
//
// A [Data] is a full table with the handles that the layers need. A [Layer] prepares a call once, before the
// measurement: it makes everything that a user of the layer could reuse. The measured operation does what the user
// must do for each call, such as parsing in api or making an input for the SDK. All layers read every byte of the
// values that they visit, so that none gains time by skipping them.
package layer

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
)

// A Layer runs calls at one layer of the stack.
type Layer interface {
	// Prepare returns the operation that runs a call. The operation fails when it gets another number of rows than
	// the call wants.
	Prepare(ctx context.Context, c *work.Call) (measure.Op, error)
	// Close releases what the layer itself holds.
	Close() error
}

// A Name is the name of a layer.
type Name string

// The layers, from the bottom up.
const (
	Bare    Name = "bare"
	Store   Name = "store"
	KeyCond Name = "keycond"
	Table   Name = "table"
	Go      Name = "go"
	API     Name = "api"
	HTTP    Name = "http"
	Client  Name = "client"
	Direct  Name = "direct"
)

// Names returns all layers from the bottom up.
func Names() []Name { return []Name{Bare, Store, KeyCond, Table, Go, API, HTTP, Client, Direct} }

// New returns the layer called name on d. Locked says that some workers write while others read, so that the bare
// tree needs a lock.
func New(name Name, d *Data, locked bool) (Layer, error) {
	switch name {
	case Bare:
		if d.tree != nil {
			d.tree.locked = locked
			return rowLayer{d, d.tree}, nil
		}
		return rowLayer{d, barePebble{d.pebble}}, nil
	case Store:
		return rowLayer{d, storeRows{d.Store}}, nil
	case KeyCond:
		return rowLayer{d, keyedRows{d.Store}}, nil
	case Table:
		return rowLayer{d, tableItems{d.Tables}}, nil
	case Go:
		return goLayer{d}, nil
	case API:
		return apiLayer{d}, nil
	case HTTP:
		return serveHere(d.Shape, server.New(d.DB, server.Options{}).Serve)
	case Client:
		return sdkLayer{d, sdk.Client(d.DB, func(o *dynamodb.Options) {
			o.HTTPClient = server.New(d.DB, server.Options{}).Client()
		})}, nil
	case Direct:
		return sdkLayer{d, sdk.Direct(d.DB)}, nil
	}
	return nil, fmt.Errorf("unknown layer %q", name)
}

// A rowEngine runs planned calls on rows or items.
type rowEngine interface {
	// read runs a Query or Scan and returns the rows that it examined.
	read(ctx context.Context, p *plan, s *measure.Scratch) (rows, size int, err error)
	get(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error)
	write(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error)
}

// A rowLayer is a layer below the Go API of the store.
type rowLayer struct {
	data   *Data
	engine rowEngine
}

// Close implements [Layer].
func (rowLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l rowLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	p, err := l.data.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	e, do := l.engine, l.engine.write
	switch c.Op {
	case work.Query, work.Scan:
		return func(ctx context.Context, s *measure.Scratch) (int, int, error) {
			rows, size, err := e.read(ctx, p, s)
			if err == nil && rows != p.examined {
				err = errMissing
			}
			return p.returned, size, err
		}, nil
	case work.Get, work.TransactGet:
		do = e.get
	}
	return func(ctx context.Context, s *measure.Scratch) (int, int, error) {
		size, err := do(ctx, p, s)
		return c.Want, size, err
	}, nil
}

// checkRows returns an error when a call returned another number of rows than it wants.
func checkRows(c *work.Call, got int) error {
	if c.Want >= 0 && got != c.Want {
		return fmt.Errorf("%s returned %d rows, want %d", c.Op, got, c.Want)
	}
	return nil
}

// touch returns a checksum of b. Its purpose is to read every byte.
func touch(b []byte) (sum uint64) {
	for len(b) >= 32 {
		sum ^= binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(b[8:]) ^
			binary.LittleEndian.Uint64(b[16:]) ^ binary.LittleEndian.Uint64(b[24:])
		b = b[32:]
	}
	for len(b) >= 8 {
		sum ^= binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	for _, c := range b {
		sum ^= uint64(c)
	}
	return sum
}
