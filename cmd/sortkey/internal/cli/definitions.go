package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A definitions holds what a command needs to change the definition of one table.
type definitions struct {
	env   *app.Env
	src   *app.Source
	table string
}

// define opens the database that f selects, and calls change, which changes the definition of a table there.
func define(
	cmd *cobra.Command, env *app.Env, f app.SourceFlags, table string,
	change func(ctx context.Context, d *definitions) error,
) (err error) {
	ctx := cmd.Context()
	src, err := env.Open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = src.End(err) }()
	return change(ctx, &definitions{env, src, table})
}

// A described is the current description of a table, with its keys as people write them.
type described struct {
	*wire.TableDescription
	keys *keyschema.Table
	text string
}

// describe describes the table. If it does not exist, the error lists the tables that do.
func (d *definitions) describe(ctx context.Context) (*described, error) {
	keys, err := describe(ctx, d.src, d.table)
	if err != nil {
		return nil, err
	}
	out, _, err := d.src.Target.Do(ctx, &wire.DescribeTableInput{TableName: &d.table})
	if err != nil {
		return nil, err
	}
	return &described{out.(*wire.DescribeTableOutput).Table, keys, keys.Key.String()}, nil
}

// settlePoll is the time between two requests with which settle reads the state of the table.
const settlePoll = 100 * time.Millisecond

// settle waits until the table and its global indexes are ACTIVE.
func (d *definitions) settle(ctx context.Context) error {
	for {
		have, err := d.describe(ctx)
		if err != nil {
			return err
		}
		busy := *have.TableStatus != "ACTIVE"
		for _, ix := range have.GlobalSecondaryIndexes {
			if ix.IndexStatus != nil && *ix.IndexStatus != "ACTIVE" {
				busy = true
			}
		}
		if !busy {
			return nil
		}
		select {
		case <-time.After(settlePoll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// update sends a request that changes the table, and waits until the table can be used again. Building is the name of
// the index that the request adds, or "" if it adds none.
func (d *definitions) update(ctx context.Context, in *wire.UpdateTableInput, building string) error {
	_, _, err := d.src.Target.Do(ctx, in)
	if err != nil && ctx.Err() == nil && os.IsTimeout(err) && building != "" {
		// The server continues to build an index after the request has timed out. If the table has the index, this is
		// not an error: wait for the index.
		if have, failed := d.describe(ctx); failed == nil && have.keys.Index(building) != nil {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return d.settle(ctx)
}

// setExpiry turns time to live on or off.
func (d *definitions) setExpiry(ctx context.Context, attribute string, on bool) error {
	in := &wire.UpdateTimeToLiveInput{TableName: &d.table, TimeToLiveSpecification: &wire.TimeToLiveSpecification{
		AttributeName: &attribute, Enabled: &on,
	}}
	_, _, err := d.src.Target.Do(ctx, in)
	return err
}

// expiry returns the name of the attribute with the time to live of items, or "" if the table has none.
func (d *definitions) expiry(ctx context.Context) (string, error) {
	out, _, err := d.src.Target.Do(ctx, &wire.DescribeTimeToLiveInput{TableName: &d.table})
	if err != nil {
		return "", err
	}
	ttl := out.(*wire.DescribeTimeToLiveOutput).TimeToLiveDescription
	if ttl == nil || ttl.AttributeName == nil {
		return "", nil
	}
	return *ttl.AttributeName, nil
}

func (d *definitions) print(format string, args ...any) error {
	_, err := fmt.Fprintf(d.env.Stdout, format+"\n", args...)
	return err
}

// indexNamed returns an error unless the table has a global index called name.
func (h *described) indexNamed(name string) error {
	names := h.keys.IndexNames()
	ix := h.keys.Index(name)
	switch {
	case ix == nil && len(names) == 0:
		return advice.New("", "table %s has no indexes", *h.TableName)
	case ix == nil:
		return advice.New(
			"the indexes are "+strings.Join(names, ", "), "table %s has no index %s", *h.TableName, name,
		)
	case ix.Local:
		return advice.New("it goes when its table is deleted", "a local index such as %s cannot be deleted", name)
	}
	return nil
}

// provision sets the provisioned throughput of the index that the request adds to that of the table. It does nothing
// if the table is billed on demand.
func (h *described) provision(in *wire.UpdateTableInput) {
	p := h.ProvisionedThroughput
	if m := h.BillingModeSummary; m != nil && m.BillingMode != nil && *m.BillingMode == "PAY_PER_REQUEST" || p == nil {
		return
	}
	in.GlobalSecondaryIndexUpdates[0].Create.ProvisionedThroughput = &wire.ProvisionedThroughput{
		ReadCapacityUnits: p.ReadCapacityUnits, WriteCapacityUnits: p.WriteCapacityUnits,
	}
}

// items returns the number of items as text, such as "5 items", or "its items" if the number is unknown.
func (h *described) items() string {
	if h.ItemCount == nil {
		return "its items"
	}
	return text.Count(int(*h.ItemCount), "item")
}
