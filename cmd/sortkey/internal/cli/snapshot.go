package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
)

func (a *App) snapshotCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "snapshot --data DIR SNAPSHOT",
		Short: "Copy a database to a folder or a file",
		Long: `Snapshot makes a whole, consistent copy of the database in a folder. SNAPSHOT
becomes a folder of the same form, which takes little time and room on the same
disk because files are shared; sortkey serve --data can serve it. When its name
ends in .tar, .tar.gz, .tgz, .tar.zst or .tzst it becomes one file, to keep or
to send elsewhere. sortkey restore puts either back.

SNAPSHOT must not exist. It appears when it is whole, and an error leaves
nothing. A server may have the database open: it takes the snapshot itself, and
answers requests meanwhile. Every write it had answered is in it.

A server without --data has no folder: sortkey export --all writes out what it
holds.`,
		Example: `  sortkey snapshot --data ./sortkey-data ./before-the-change
  sortkey snapshot --data ./sortkey-data backup-2026-11-21.tar.zst`,
		Args:              oneArgument("snapshot", "the SNAPSHOT to make"),
		ValidArgsFunction: completeOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if data == "" {
				return usageError("name the folder that was given to sortkey serve --data; what a server without --data holds is written out with sortkey export --all --to DIR",
					"snapshot needs --data, the folder of the database")
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			info, err := snapshot.Make(ctx, data, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%s in %s, %s\n", tables(len(info.Tables)), info.Path, byteSize(info.Bytes))
			return err
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "`DIR` of the database")
	mustComplete(cmd, "data", completeFolder)
	return cmd
}

// interruptible returns a context that ends when the process is told to stop.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

func oneArgument(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage(command, "%s takes one argument, %s, not %d", command, what, len(args))
		}
		return nil
	}
}

func completeOnePath(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

func tables(n int) string {
	if n == 1 {
		return "1 table"
	}
	return fmt.Sprint(n, " tables")
}

// byteSize writes a number of bytes for people.
func byteSize(n int64) string {
	const step = 1024
	if n < step {
		return fmt.Sprint(n, " bytes")
	}
	value, unit := float64(n)/step, 0
	for ; value >= step && unit < len("KMGTPE")-1; unit++ {
		value /= step
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[unit])
}
