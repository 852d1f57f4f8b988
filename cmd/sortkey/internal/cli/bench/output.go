package bench

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/report"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// outputFlags select the outputs of a report.
type outputFlags struct {
	json, html        string
	details, markdown bool
	compact           bool // the file has times and ratios only
}

func (o *outputFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(
		&o.json, "json", "",
		"write the whole report as JSON to `FILE`, or to standard output for -; "+
			"in a folder the file is DATE-MACHINE.json",
	)
	flags.StringVar(&o.html, "html", "", "write the report with plots as one HTML page to `FILE`")
	flags.BoolVar(&o.details, "details", false, "also print rates, percentiles and allocations")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"json": app.Paths, "html": app.Paths})
}

// check fails before anything is measured if a file could not be written.
func (o *outputFlags) check() error {
	for flag, file := range map[string]string{"json": o.json, "html": o.html} {
		if file == "" || file == "-" {
			continue
		}
		if info, err := os.Stat(file); flag == "json" && err == nil && info.IsDir() {
			continue
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
			return app.UsageError(
				"create it, or name another file", "--%s: folder %s does not exist", flag, filepath.Dir(file),
			)
		}
	}
	return nil
}

// write writes the report to the outputs that the flags select.
func (o *outputFlags) write(env *app.Env, r *bench.Report) error {
	switch {
	case o.json == "-":
	case o.markdown:
		report.Markdown(env.Stdout, r)
	default:
		report.Table(env.Stdout, r, report.Options{Details: o.details, Bad: env.Style().Paint.Bad})
	}

	switch {
	case o.json == "-":
		if err := r.WriteJSON(env.Stdout, true); err != nil {
			return err
		}
	case o.json != "":
		file := o.json
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			file = filepath.Join(file, r.FileName()+".json")
		}
		if o.compact {
			r = r.Compact()
		}
		if err := app.WriteFile(file, func(w io.Writer) error { return r.WriteJSON(w, !o.compact) }); err != nil {
			return err
		}
	}

	if o.html == "" {
		return nil
	}
	return app.WriteFile(o.html, func(w io.Writer) error { return report.HTML(w, r) })
}

// arguments returns the command line without the flags that only select outputs.
func arguments(cmd *cobra.Command) (args []string) {
	args = append(args, cmd.CommandPath())
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "json", "html", "dir", "temp", "readme", "quiet", "details":
		default:
			value := strings.Trim(f.Value.String(), "[]") // of a list
			if value == "true" {
				args = append(args, "--"+f.Name)
			} else {
				args = append(args, "--"+f.Name+"="+value)
			}
		}
	})
	return append(args, cmd.Flags().Args()...)
}
