package design

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/live"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
)

func openCommand(env *app.Env) *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "open MODEL",
		Short: "Show the page of a model in the browser, and follow its file",
		Long: `Open serves the page of a model to the browser on this machine, and draws it anew
whenever the file is saved. Beside the page are a query, whose slice is drawn while it is
typed, and the source with the findings in its margin.

MODEL is a model file, a folder with a model.yaml, or the name of an example, of which a copy
is opened. Open prints an address with a token: open that. Others have no access. Interrupt
the command to end it.`,
		Example: `  sortkey design open shop.yaml
  sortkey design open shop.yaml --port 8080`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runOpen(cmd.Context(), env, args[0], port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "listen on this `PORT` of 127.0.0.1 (default any that is free)")
	return cmd
}

func runOpen(ctx context.Context, env *app.Env, path string, port int) error {

	file, copied, err := modelPath(path)
	if err != nil {
		return err
	}
	if copied {
		fmt.Fprintf(env.Stderr, "sortkey: %s is an example; this is a copy of it, %s\n", path, file)
	}

	s, err := live.New(ctx, file, live.Options{})
	if list, ok := errors.AsType[model.Errors](err); ok {
		return app.ModelErrors(path, list)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	site, err := web.Listen(port)
	if err != nil {
		return &advice.Error{Msg: err.Error(), Advice: "give another port with --port, or none", Err: err}
	}

	fmt.Fprintf(env.Stdout, "%s\n", site.URL())
	fmt.Fprintf(env.Stderr, "open this address in the browser; the page follows %s; ctrl-c ends\n", file)
	go s.Follow(ctx)
	return site.Serve(ctx, s.Handler())
}

// modelPath returns the model file at path, or the model.yaml of the folder at path. If path does not exist but is
// the name of an example, modelPath copies the example to a temporary folder and returns the path of the copy.
func modelPath(path string) (file string, copied bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return filepath.Join(path, "model.yaml"), false, nil
	case err == nil:
		return path, false, nil
	}
	_, data, missing := examples.Read(path)
	if missing != nil {
		return "", false, &advice.Error{
			Msg: "no model " + path, Err: err,
			Advice: "the examples are " + strings.Join(examples.Names(), ", ") +
				"; write a model with: sortkey design new FILE",
		}
	}
	folder, err := os.MkdirTemp("", "sortkey-"+path+"-")
	if err != nil {
		return "", false, err
	}
	file = filepath.Join(folder, path+".yaml")
	return file, true, os.WriteFile(file, data, 0o666)
}
