package layer

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A Layer answers calls at one height of the stack.
type Layer interface {
	// Prepare returns the operation that does a call. The operation fails
	// when its answer does not have the rows that the call wants.
	Prepare(ctx context.Context, c *work.Call) (measure.Op, error)
	// Close releases what the layer itself holds.
	Close() error
}

// A Name is the name of a layer.
type Name string

// The layers, from the bottom up. Canned layers are the SDK alone: its client
// over a transport, or below a middleware, that has the answer ready.
const (
	Bare         Name = "bare"
	Store        Name = "store"
	Table        Name = "table"
	API          Name = "api"
	HTTP         Name = "http"
	Client       Name = "client"
	ClientCanned Name = "client-canned"
	Direct       Name = "direct"
	DirectCanned Name = "direct-canned"
)

// Names returns all layers from the bottom up.
func Names() []Name {
	return []Name{Bare, Store, Table, API, HTTP, Client, ClientCanned, Direct, DirectCanned}
}

// A Config is what layers of one run are told.
type Config struct {
	// Workers is how many goroutines call at once.
	Workers int
	// Writes is true when some calls write.
	Writes bool
}

// New returns the layer called name over d.
func New(ctx context.Context, name Name, d *Data, c Config) (Layer, error) {
	switch name {
	case Bare:
		switch {
		case d.tree != nil:
			return &treeLayer{data: d, locked: c.Writes && c.Workers > 1}, nil
		case d.pebble != nil:
			return &pebbleLayer{data: d}, nil
		}
		return nil, fmt.Errorf("there is no bare engine beside the table")
	case Store:
		return &storeLayer{data: d}, nil
	case Table:
		return &tableLayer{data: d}, nil
	case API:
		return apiLayer{d}, nil
	case HTTP:
		return newHTTPLayer(d)
	case Client, ClientCanned, Direct, DirectCanned:
		return newSDKLayer(name, d), nil
	}
	return nil, fmt.Errorf("there is no layer %q", name)
}

// errRows is the error of an answer with the wrong number of rows.
func errRows(c *work.Call, got int) error {
	return fmt.Errorf("%s answered with %d rows, not %d", c.Op, got, c.Want)
}

// checked returns an error when got is not what the call wants.
func checked(c *work.Call, got int) error {
	if c.Want >= 0 && got != c.Want {
		return errRows(c, got)
	}
	return nil
}

// Touch returns a checksum of every byte of b: reading is what it is for.
func Touch(b []byte) (sum uint64) {
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
