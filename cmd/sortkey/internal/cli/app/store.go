package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// OpenData opens the store in the folder of --data.
func OpenData(dir string, opts disk.Options) (store.Store, error) {
	st, err := disk.Open(dir, opts)
	switch {
	case errors.Is(err, disk.ErrLoss):
		return nil, &advice.Error{
			Msg: "--data: " + err.Error(), Err: err,
			Advice: "restore a snapshot, or open the folder without these updates with sortkey serve --accept-loss",
		}
	case errors.Is(err, disk.ErrLocked):
		return nil, &advice.Error{
			Msg: fmt.Sprintf("--data: %s is in use", dir), Err: err,
			Advice: "stop the sortkey that serves it, or name another folder",
		}
	case err != nil:
		return nil, fmt.Errorf("--data: %w", err)
	}
	return st, nil
}

// OpenFolder opens the store in the folder of --data. It creates a missing folder only if create is set. If a server
// has the folder open, the error advises to use --endpoint, so the command must have this flag.
func OpenFolder(dir string, create bool) (store.Store, error) {
	if _, err := os.Stat(dir); err != nil && !create {
		return nil, advice.New(
			"create a table in it with sortkey create TABLE 'PARTITION KEY / SORT KEY' --data "+dir+
				", or name a folder that serve or import has written",
			"--data: no database in %s", dir,
		)
	}
	st, err := OpenData(dir, disk.Options{})
	if h, ok := errors.AsType[*advice.Error](err); ok && errors.Is(err, disk.ErrLocked) {
		h.Advice = "use the server that has it open, with --endpoint instead of --data, or stop that server"
	}
	return st, err
}
