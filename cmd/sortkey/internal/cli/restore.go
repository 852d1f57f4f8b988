package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

func restoreCommand(env *app.Env) *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "restore SNAPSHOT --data DIR",
		Short: "Restore a snapshot to a folder",
		Long: `Restore copies a snapshot to a folder that is empty or does not exist. SNAPSHOT
is a folder or file from sortkey snapshot, or a file that a program has written
with DB.Backup, and stays unchanged.

It first copies and opens the database beside DIR, so after a failure DIR is
unchanged.`,
		Example: `  sortkey restore 2026-11-21.backup.zst --data ./sortkey-data
  mv ./sortkey-data ./replaced && sortkey restore ./before-the-change --data ./sortkey-data`,
		Args:              app.OneArgument("restore", "the SNAPSHOT to read"),
		ValidArgsFunction: app.Paths,
		RunE: func(cmd *cobra.Command, args []string) error {
			if data == "" {
				return app.Usage("restore", "restore needs --data, the folder for the database")
			}
			info, err := snapshot.Restore(cmd.Context(), args[0], data)
			if errors.Is(err, snapshot.ErrNotEmpty) {
				return advice.New("name an empty folder, or move this one away", "%w", err)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(
				env.Stdout, "%s restored into %s, %s\n", text.Count(len(info.Tables), "table"), data,
				text.Size(info.Bytes),
			)
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "`DIR` for the database")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"data": app.Folders})
	return cmd
}
