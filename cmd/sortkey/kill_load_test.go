package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

const (
	slots    = 40 // of each client in each table
	accounts = 6
	deposit  = 1000 // in each account at the start
)

// A change is the effect of a request on one key: the item changes from that of number old to that of number to.
type change struct {
	key     key
	old, to int
}

// A payment moves money between two accounts and leaves a receipt.
type payment struct {
	id               string
	from, to, amount int
}

// A writer is a client that writes only to its own keys, so it knows what the database must contain: the result of
// its acknowledged writes and, for the request in progress when the server died, the state before or after that
// request.
type writer struct {
	id        int
	rng       *rand.Rand
	db        *dynamodb.Client
	last      int         // number of the last write
	items     map[key]int // number of each stored item; other keys have 0 or no entry
	transfers map[string]payment

	// The request in progress.
	pending  []change
	atomic   bool // all of pending or nothing
	transfer *payment
	adding   bool

	acked, transactions, refused, added int
}

func newWriter(id int, seed uint64) *writer {
	return &writer{id: id, rng: rand.New(rand.NewPCG(seed, uint64(id))), items: map[key]int{}, transfers: map[string]payment{}}
}

// errWrong is the error of a wrong response.
var errWrong = errors.New("wrong answer")

// step sends one request. If it returns an error other than errWrong, the request may have been applied or not.
func (w *writer) step(ctx context.Context) error {
	var err error
	writes := 1
	switch dice := w.rng.IntN(100); {
	case dice < 25:
		err = w.put(ctx)
	case dice < 45:
		err = w.update(ctx)
	case dice < 55:
		err = w.remove(ctx)
	case dice < 65:
		err = w.batch(ctx)
		writes = len(w.pending)
	case dice < 85:
		err = w.transact(ctx)
		writes = len(w.pending)
		w.transactions++
	case dice < 95:
		err = w.pay(ctx)
		writes = 3
		w.transactions++
	default:
		w.adding = true
		err = w.add(ctx)
	}
	if refusal(err) {
		w.refused++
		w.settle(false)
		return nil
	}
	if err != nil {
		return err
	}
	w.acked += writes
	w.settle(true)
	return nil
}

// refusal reports whether the condition of a request was false, so that the request was not applied.
func refusal(err error) bool {
	e, ok := errors.AsType[smithy.APIError](err)
	return ok && (e.ErrorCode() == "ConditionalCheckFailedException" || e.ErrorCode() == "TransactionCanceledException")
}

// settle ends the request in progress and records whether it was applied.
func (w *writer) settle(done bool) {
	if done {
		for _, c := range w.pending {
			w.items[c.key] = c.to
		}
		if w.transfer != nil {
			w.transfers[w.transfer.id] = *w.transfer
		}
		if w.adding {
			w.added++
		}
	}
	w.pending, w.atomic, w.transfer, w.adding = nil, false, nil, false
}

// change adds to the request in progress a change of another key of the writer. One change in deleteOneOf deletes its
// item; 0 stands for no deletes.
func (w *writer) change(deleteOneOf int) change {
	for {
		k := key{plain, w.id, w.rng.IntN(slots)}
		if w.rng.IntN(2) == 0 {
			k.table = indexed
		}
		fresh := true
		for _, c := range w.pending {
			fresh = fresh && c.key != k
		}
		if !fresh {
			continue
		}
		w.last++
		c := change{k, w.items[k], w.last}
		if deleteOneOf > 0 && w.rng.IntN(deleteOneOf) == 0 {
			c.to = 0
		}
		w.pending = append(w.pending, c)
		return c
	}
}

// condition returns a condition that is true for the item of number n. Sometimes it returns a condition that is false
// for every item, and records that the request must have no effect.
func (w *writer) condition(n int) (*string, map[string]string, item) {
	wrong := w.rng.IntN(8) == 0
	if wrong {
		for i := range w.pending {
			w.pending[i].to = w.pending[i].old
		}
	}
	switch {
	case wrong:
		return aws.String("#n = :was"), map[string]string{"#n": "n"}, item{":was": num(-1)}
	case n == 0:
		return aws.String("attribute_not_exists(#n)"), map[string]string{"#n": "n"}, nil
	default:
		return aws.String("#n = :was"), map[string]string{"#n": "n"}, item{":was": num(n)}
	}
}

func (w *writer) put(ctx context.Context) error {
	c := w.change(0)
	in := &dynamodb.PutItemInput{TableName: &c.key.table, Item: c.key.item(c.to)}
	if w.rng.IntN(2) == 0 {
		in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.condition(c.old)
	}
	_, err := w.db.PutItem(ctx, in)
	return err
}

func (w *writer) update(ctx context.Context) error {
	c := w.change(0)
	in := &dynamodb.UpdateItemInput{TableName: &c.key.table, Key: c.key.attributes(), ReturnValues: types.ReturnValueAllNew}
	in.UpdateExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.key.update(c.to)
	cond, _, values := w.condition(c.old)
	in.ConditionExpression = cond
	maps.Copy(in.ExpressionAttributeValues, values)
	out, err := w.db.UpdateItem(ctx, in)
	if err == nil && !equal(out.Attributes, c.key.item(c.to)) {
		return fmt.Errorf("%w: update of %v to %d returned %v", errWrong, c.key, c.to, out.Attributes)
	}
	return err
}

func (w *writer) remove(ctx context.Context) error {
	c := w.change(1)
	in := &dynamodb.DeleteItemInput{TableName: &c.key.table, Key: c.key.attributes(), ReturnValues: types.ReturnValueAllOld}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.condition(c.old)
	out, err := w.db.DeleteItem(ctx, in)
	if err == nil && !equal(out.Attributes, c.key.item(c.old)) {
		return fmt.Errorf("%w: delete of %v returned %v, want item %d", errWrong, c.key, out.Attributes, c.old)
	}
	return err
}

func (w *writer) batch(ctx context.Context) error {
	in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{}}
	for range 2 + w.rng.IntN(6) {
		c := w.change(3)
		r := types.WriteRequest{PutRequest: &types.PutRequest{Item: c.key.item(c.to)}}
		if c.to == 0 {
			r = types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: c.key.attributes()}}
		}
		in.RequestItems[c.key.table] = append(in.RequestItems[c.key.table], r)
	}
	out, err := w.db.BatchWriteItem(ctx, in)
	if err == nil && len(out.UnprocessedItems) > 0 {
		return fmt.Errorf("%w: batch with unprocessed writes %v", errWrong, out.UnprocessedItems)
	}
	return err
}

func (w *writer) transact(ctx context.Context) error {
	w.atomic = true
	in := &dynamodb.TransactWriteItemsInput{}
	for range 2 + w.rng.IntN(4) {
		c := w.change(4)
		switch {
		case c.to == 0:
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Delete: &types.Delete{TableName: &c.key.table, Key: c.key.attributes()}})
		case w.rng.IntN(2) == 0:
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: &c.key.table, Item: c.key.item(c.to)}})
		default:
			u := &types.Update{TableName: &c.key.table, Key: c.key.attributes()}
			u.UpdateExpression, u.ExpressionAttributeNames, u.ExpressionAttributeValues = c.key.update(c.to)
			in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Update: u})
		}
	}
	if w.rng.IntN(3) == 0 { // add a condition on a key that the request does not change
		c := w.change(0)
		w.pending[len(w.pending)-1].to = c.old
		check := &types.ConditionCheck{TableName: &c.key.table, Key: c.key.attributes()}
		check.ConditionExpression, check.ExpressionAttributeNames, check.ExpressionAttributeValues = w.condition(c.old)
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{ConditionCheck: check})
	}
	_, err := w.db.TransactWriteItems(ctx, in)
	return err
}

func (w *writer) pay(ctx context.Context) error {
	w.last++
	tr := payment{id: fmt.Sprintf("receipt %d/%d", w.id, w.last), from: w.rng.IntN(accounts), amount: 1 + w.rng.IntN(300)}
	tr.to = (tr.from + 1 + w.rng.IntN(accounts-1)) % accounts
	w.transfer = &tr
	move := func(account int, expr string, cond *string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String(bank), Key: item{"PK": str(accountName(account))}, UpdateExpression: &expr, ConditionExpression: cond,
			ExpressionAttributeValues: item{":x": num(tr.amount)},
		}}
	}
	_, err := w.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		move(tr.from, "SET balance = balance - :x", aws.String("balance >= :x")),
		{Put: &types.Put{TableName: aws.String(bank), Item: tr.receipt()}},
		move(tr.to, "SET balance = balance + :x", nil),
	}})
	return err
}

func accountName(i int) string { return fmt.Sprintf("account %d", i) }

func (tr payment) receipt() item {
	return item{"PK": str(tr.id), "from": num(tr.from), "to": num(tr.to), "amount": num(tr.amount)}
}

func (w *writer) add(ctx context.Context) error {
	_, err := w.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(bank), Key: item{"PK": str("counter")}, UpdateExpression: aws.String("ADD hits :one"),
		ExpressionAttributeValues: item{":one": num(1)},
	})
	return err
}
