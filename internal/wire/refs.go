package wire

// This file says what the requests of the operations on items refer to; refsOf does for
// the others, which name tables only.

// Refs implements [Input].
func (x *GetItemInput) Refs(yield func(Ref) bool) {
	yield(Ref{Table: deref(x.TableName), Key: x.Key})
}

// Refs implements [Input].
func (x *PutItemInput) Refs(yield func(Ref) bool) {
	yield(Ref{Table: deref(x.TableName), Item: x.Item})
}

// Refs implements [Input].
func (x *UpdateItemInput) Refs(yield func(Ref) bool) {
	yield(Ref{Table: deref(x.TableName), Key: x.Key})
}

// Refs implements [Input].
func (x *DeleteItemInput) Refs(yield func(Ref) bool) {
	yield(Ref{Table: deref(x.TableName), Key: x.Key})
}

// Refs implements [Input].
func (x *QueryInput) Refs(yield func(Ref) bool) {
	if x.TableName != nil {
		yield(Ref{Table: *x.TableName})
	}
}

// Refs implements [Input].
func (x *ScanInput) Refs(yield func(Ref) bool) {
	if x.TableName != nil {
		yield(Ref{Table: *x.TableName})
	}
}

// Refs implements [Input].
func (x *BatchGetItemInput) Refs(yield func(Ref) bool) {
	for name, keys := range x.RequestItems {
		if !yield(Ref{Table: name}) {
			return
		}
		for _, key := range keys.Keys {
			if !yield(Ref{Table: name, Key: key}) {
				return
			}
		}
	}
}

// Refs implements [Input].
func (x *BatchWriteItemInput) Refs(yield func(Ref) bool) {
	for name, requests := range x.RequestItems {
		if !yield(Ref{Table: name}) {
			return
		}
		for _, r := range requests {
			if r.DeleteRequest != nil && !yield(Ref{Table: name, Key: r.DeleteRequest.Key}) {
				return
			}
			if r.PutRequest != nil && !yield(Ref{Table: name, Item: r.PutRequest.Item}) {
				return
			}
		}
	}
}

// Refs implements [Input].
func (x *TransactGetItemsInput) Refs(yield func(Ref) bool) {
	for _, item := range x.TransactItems {
		if get := item.Get; get != nil && !yield(Ref{Table: deref(get.TableName), Key: get.Key}) {
			return
		}
	}
}

// Refs implements [Input].
func (x *TransactWriteItemsInput) Refs(yield func(Ref) bool) {
	for _, item := range x.TransactItems {
		if c := item.ConditionCheck; c != nil && !yield(Ref{Table: deref(c.TableName), Key: c.Key}) {
			return
		}
		if d := item.Delete; d != nil && !yield(Ref{Table: deref(d.TableName), Key: d.Key}) {
			return
		}
		if p := item.Put; p != nil && !yield(Ref{Table: deref(p.TableName), Item: p.Item}) {
			return
		}
		if u := item.Update; u != nil && !yield(Ref{Table: deref(u.TableName), Key: u.Key}) {
			return
		}
	}
}
