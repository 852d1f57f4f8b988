package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) designCommand() *cobra.Command {
	return &cobra.Command{Use: "design", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
