package design

import (
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
)

// priceFlags are the flags of commands that compute a bill.
type priceFlags struct{ prices string }

func (f *priceFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(
		&f.prices, "prices", "",
		"take the prices of a region from this `FILE` (default those of "+bill.Known().Region+")",
	)
	app.Complete(cmd, map[string]cobra.CompletionFunc{"prices": app.Paths})
}

// bill returns the bill of a result at the prices that the flags select.
func (f *priceFlags) bill(r *check.Result) (*bill.Bill, error) {
	prices := bill.Known()
	if f.prices != "" {
		var err error
		if prices, err = bill.Read(f.prices); err != nil {
			return nil, err
		}
	}
	return bill.Of(r, prices), nil
}
