package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) importCommand() *cobra.Command {
	return &cobra.Command{Use: "import", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
