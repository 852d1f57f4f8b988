package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
)

func (a *App) restoreCommand() *cobra.Command {
	var data string
	var force bool
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT --data DIR",
		Short: "Put a snapshot back into a folder",
		Long: `Restore makes a database of what sortkey snapshot has made, in a folder that is
empty or does not exist. SNAPSHOT, a folder or a file, is left as it is.

With --force a database that is in DIR is thrown away. The new one is made and
opened beside it first and then takes its place at once: whatever goes wrong, DIR
is as it was. A folder that holds anything else is never replaced.`,
		Example: `  sortkey restore backup-2026-11-21.tar.zst --data ./sortkey-data
  sortkey restore ./before-the-change --data ./sortkey-data --force`,
		Args:              oneArgument("restore", "the SNAPSHOT to read"),
		ValidArgsFunction: completeOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if data == "" {
				return usage("restore", "restore needs --data, the folder to put the database in")
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			info, err := snapshot.Restore(ctx, args[0], data, force)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%s restored into %s, %s\n", tables(len(info.Tables)), data, byteSize(info.Bytes))
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "`DIR` to put the database in")
	cmd.Flags().BoolVar(&force, "force", false, "replace the database that is in DIR")
	mustComplete(cmd, "data", completeFolder)
	return cmd
}
