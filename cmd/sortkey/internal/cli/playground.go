package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/playground"
	"github.com/sortkey/sortkey/internal/design/advice"
)

func playgroundCommand(env *app.Env) *cobra.Command {
	var folder, source string
	cmd := &cobra.Command{
		Use:   "playground -o FOLDER",
		Short: "Write the page of a model as static files that need no server",
		Long: `Playground writes a folder of static files: the page of sortkey design open, with its query
box and its editor, and the engine compiled to WebAssembly, so that everything runs in the
browser of the reader. Any server of static files can serve the folder, under any path. It
sends nothing: the model of a reader stays in the browser.

The engine is compiled with Go, which must be installed. A published version of sortkey
compiles its own version; one that was built from a checkout needs --source. Each release
also has the finished folder as an archive.`,
		Example: `  sortkey playground -o public/playground
  sortkey playground -o public/playground --source ~/src/sortkey`,
		Args:              app.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if folder == "" {
				return app.Usage("playground", "playground needs -o, the folder to write")
			}
			ctx, stop := app.Interruptible(cmd.Context())
			defer stop()
			return runPlayground(ctx, env, folder, source)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&folder, "output", "o", "", "output `FOLDER`, which must be new or empty")
	flags.StringVar(&source, "source", "", "compile the engine of the checkout in this `FOLDER`")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"output": app.Folders, "source": app.Folders})
	return cmd
}

// published matches versions that can be downloaded; that of a checkout with changes ends in +dirty.
var published = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+[-.0-9A-Za-z]*$`)

func runPlayground(ctx context.Context, env *app.Env, folder, source string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return advice.New("name a new folder", "%s already exists and is not empty", folder)
	}
	compile, err := engineOf(source)
	if err != nil {
		return err
	}

	fmt.Fprintln(env.Stderr, "sortkey: compiling the engine, which can take a minute")
	engine, err := compile(ctx)
	if err != nil {
		return err
	}
	if err := playground.Write(ctx, folder, engine); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "wrote %s: serve it with any server of static files\n", folder)
	return err
}

// engineOf returns a function that compiles the engine of a checkout, or of this version.
func engineOf(source string) (compile func(context.Context) (*playground.Engine, error), err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, &advice.Error{
			Msg:    "cannot compile the engine: Go is not installed",
			Advice: "install Go from https://go.dev/dl, or unpack sortkey-VERSION-playground.tar.gz of the release",
			Err:    err,
		}
	}
	version := app.ModuleVersion()
	switch {
	case source != "":
		return func(ctx context.Context) (*playground.Engine, error) {
			return playground.BuildCheckout(ctx, source)
		}, nil
	case published.MatchString(version):
		return func(ctx context.Context) (*playground.Engine, error) {
			return playground.BuildVersion(ctx, version)
		}, nil
	}
	return nil, advice.New(
		"name the folder of the checkout with --source", "this sortkey is not a published version",
	)
}
