package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) explainCommand() *cobra.Command {
	return &cobra.Command{Use: "explain", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
