package sdk

import (
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// getItemOutput returns the output of a GetItem, with the item that takeItem has converted, if any.
func (m *toSDK) getItemOutput(used *wire.ConsumedCapacity) *dynamodb.GetItemOutput {
	if m.got == nil {
		m.got = new(getOutput)
	}
	m.got.out.ConsumedCapacity = pointer(used, consumedCapacityOf)
	return &m.got.out
}

// queryOutput returns the output of a Query, with the items that addItem has converted.
func (m *toSDK) queryOutput(in wire.QueryOutput) dynamodb.QueryOutput {
	out := queryOutputOf(in)
	out.Items = m.items()
	return out
}

// scanOutput returns the output of a Scan, with the items that addItem has converted.
func (m *toSDK) scanOutput(in wire.ScanOutput) dynamodb.ScanOutput {
	out := scanOutputOf(in)
	out.Items = m.items()
	return out
}

// copied returns a pointer to a copy of *p. Outputs need a copy if *p belongs to the caller's input.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func narrow(n *int64) int32 {
	if n == nil {
		return 0
	}
	return int32(*n)
}
