package design

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// outFlags are the flags of commands that write a file. Without the flag --force, such a command does not overwrite a
// file.
type outFlags struct {
	path  string
	force bool
}

func (f *outFlags) declare(cmd *cobra.Command, usage string) {
	cmd.Flags().StringVarP(&f.path, "output", "o", "", usage+" (default standard output)")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite existing files")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"output": app.Paths})
}

// toFile reports whether the flags name a file.
func (f *outFlags) toFile() bool { return f.path != "" && f.path != "-" }

// write writes data to the file, or to Stdout if the flags name none.
func (f *outFlags) write(env *app.Env, data []byte) error {
	if !f.toFile() {
		_, err := env.Stdout.Write(data)
		return err
	}
	return f.writeTo(f.path, data)
}

// writeTo writes a file. It returns an error if the file exists, unless f.force is set.
func (f *outFlags) writeTo(path string, data []byte) error {
	flags := os.O_CREATE | os.O_EXCL | os.O_WRONLY
	if f.force {
		flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	}
	file, err := os.OpenFile(path, flags, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return existing(path, err)
	}
	if err != nil {
		return &advice.Error{Msg: err.Error(), Advice: "give another file with -o", Err: err}
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// check returns an error if the file exists and f.force is not set. A command calls check before its work: if only
// write returned the error, the work would be lost.
func (f *outFlags) check() error {
	if _, err := os.Lstat(f.path); f.toFile() && !f.force && err == nil {
		return existing(f.path, fs.ErrExist)
	}
	return nil
}

func existing(path string, err error) error {
	return &advice.Error{
		Msg: path + " already exists", Advice: "give another name, or overwrite it with --force", Err: err,
	}
}
