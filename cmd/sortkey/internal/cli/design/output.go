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
		return existing(path, err)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// checkNew returns the error that writeNew would have, before the work whose result it writes. It leaves no file.
func checkNew(path string, force bool) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	switch {
	case err == nil:
		return errors.Join(f.Close(), os.Remove(path))
	case !errors.Is(err, fs.ErrExist):
		return err
	case !force:
		return existing(path, err)
	}

	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return nil //nolint:nilerr // a link to what is missing, or a pipe, whose reader would notice the look
	}
	if f, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		return err
	}
	return f.Close()
}

func existing(path string, err error) error {
	return &advice.Error{
		Msg: path + " already exists", Advice: "give another name, or overwrite it with --force", Err: err,
	}
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
