package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) restoreCommand() *cobra.Command {
	return &cobra.Command{Use: "restore", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
