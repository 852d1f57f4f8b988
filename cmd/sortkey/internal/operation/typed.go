package operation

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// Of returns the operation and the values with which somebody sends a Query, a Scan or a GetItem of table t. It
// reports false for a request that cannot be given so.
func Of(in wire.Request, t *keyschema.Table) (*Operation, *Values, bool) {
	op, v := Query, &Values{Table: t.Name}
	switch in := in.(type) {
	case *wire.GetItemInput:
		ok := v.setKey(in, t)
		return Get, v, ok
	case *wire.ScanInput:
		op = Scan
	}
	q, ok := ask.Of(in, t)
	if ok {
		v.Query = *q
	}
	return op, v, ok
}

// setKey sets the values of a GetItem, if it has nothing else.
func (v *Values) setKey(in *wire.GetItemInput, t *keyschema.Table) bool {
	rest := *in
	rest.TableName, rest.Key, rest.ConsistentRead, rest.ReturnConsumedCapacity = nil, nil, nil, nil
	for _, a := range t.Key.Partition() {
		v.Partition = append(v.Partition, ask.Operand(in.Key.Get(a.Name)))
	}
	for _, a := range t.Key.Sort() {
		v.Sort = append(v.Sort, ask.Operand(in.Key.Get(a.Name)))
	}
	v.Consistent = in.ConsistentRead != nil && *in.ConsistentRead
	again, err := v.key(t)
	same := err == nil && attr.Equal(attr.NewMap(again), attr.NewMap(in.Key))
	return same && string(rest.AppendJSON(nil)) == "{}" && len(in.Faults) == 0
}
