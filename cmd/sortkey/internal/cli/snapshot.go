package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) snapshotCommand() *cobra.Command {
	return &cobra.Command{Use: "snapshot", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
