package design

import (
	"errors"
	"io/fs"
	"os"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// writeNew writes a file that must not exist, unless force is set.
func writeNew(path string, data []byte, force bool) error {
	flags := os.O_CREATE | os.O_EXCL | os.O_WRONLY
	if force {
		flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	}
	f, err := os.OpenFile(path, flags, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return &advice.Error{
			Msg: path + " already exists", Advice: "give another name, or overwrite it with --force", Err: err,
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// output writes to a file, or to Stdout if path is empty or "-".
func output(env *app.Env, path string, data []byte) error {
	if path == "" || path == "-" {
		_, err := env.Stdout.Write(data)
		return err
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return &advice.Error{Msg: err.Error(), Advice: "give another file with -o", Err: err}
	}
	return nil
}
