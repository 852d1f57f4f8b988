package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *App) benchCommand() *cobra.Command {
	return &cobra.Command{Use: "bench", Hidden: true, RunE: func(*cobra.Command, []string) error { return errors.ErrUnsupported }}
}
