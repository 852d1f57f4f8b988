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

func snapshotCommand(env *app.Env) *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "snapshot --data DIR SNAPSHOT",
		Short: "Copy a database to a folder or a file",
		Long: `Snapshot makes a complete, consistent copy of a database on disk. The copy is a
folder that sortkey serve --data can serve; on the same disk it takes little time
and space, because the files are shared. If the name of SNAPSHOT ends in .backup,
.gz or .zst, the copy is one file, compressed or not, in the form of a program's
DB.Backup. sortkey restore restores either.

SNAPSHOT must not exist. It appears only when it is complete. A server may have
the database open: it takes the snapshot itself while it serves requests. The
snapshot has every write that the server had acknowledged.

A server without --data has no folder: use sortkey export --all instead.`,
		Example: `  sortkey snapshot --data ./sortkey-data ./before-the-change
  sortkey snapshot --data ./sortkey-data 2026-11-21.backup.zst`,
		Args:              app.OneArgument("snapshot", "the SNAPSHOT to create"),
		ValidArgsFunction: app.Paths,
		RunE: func(cmd *cobra.Command, args []string) error {
			if data == "" {
				return app.UsageError(dataAdvice, "snapshot needs --data, the folder of the database")
			}
			info, err := snapshot.Make(cmd.Context(), data, args[0])
			if errors.Is(err, snapshot.ErrNoDatabase) {
				return advice.New(dataAdvice, "%w", err)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(
				env.Stdout, "%s in %s, %s\n", text.Count(len(info.Tables), "table"), info.Path, text.Size(info.Bytes),
			)
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "`DIR` of the database")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"data": app.Folders})
	return cmd
}

const dataAdvice = "name the folder of sortkey serve --data; " +
	"for a server without --data use sortkey export --all --to DIR"
