package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) exportCommand() *cobra.Command {
	return &cobra.Command{Use: "export", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
