package shell

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The bounds of the history.
const (
	mostLines   = 1000
	longestLine = 4096 // bytes
)

// A history has the lines of earlier shells, and keeps those of this one in a file.
type history struct {
	lines []string
	file  string // "" if nothing is kept
}

// openHistory reads the history and shortens its file. If there is an error, the history is
// empty and not kept.
func openHistory(getenv func(string) string) (*history, error) {
	file, err := historyFile(getenv)
	if err != nil {
		return new(history), err
	}
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return new(history), err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return new(history), err
	}

	h := &history{file: file}
	for line := range bytes.Lines(data) {
		if line := strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), "\r\n"); line != "" {
			h.lines = append(h.lines, line)
		}
	}
	if most := len(h.lines) - mostLines; most > 0 {
		h.lines = h.lines[most:]
		if err := h.shorten(); err != nil {
			return new(history), err
		}
	}
	return h, nil
}

// shorten replaces the file by one with the lines that are left.
func (h *history) shorten() error {
	temp, err := os.CreateTemp(filepath.Dir(h.file), "history-*") // readable by its owner only
	if err != nil {
		return err
	}
	_, err = temp.WriteString(strings.Join(h.lines, "\n") + "\n")
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), h.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// add keeps a line. A file that cannot be written is no reason to disturb the user.
func (h *history) add(line string) {
	if h.file == "" || len(line) > longestLine {
		return
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Chmod(0o600) == nil {
		_, _ = f.WriteString(line + "\n")
	}
}

// historyFile returns the name of the file in the user's folder for the state of programs.
func historyFile(getenv func(string) string) (string, error) {
	dir := getenv("XDG_STATE_HOME")
	var err error
	switch {
	case filepath.IsAbs(dir): // by its specification, a relative one is ignored
	case runtime.GOOS == "windows":
		dir, err = os.UserCacheDir()
	case runtime.GOOS == "darwin":
		dir, err = os.UserConfigDir()
	default:
		dir, err = os.UserHomeDir()
		dir = filepath.Join(dir, ".local", "state")
	}
	return filepath.Join(dir, "sortkey", "history"), err
}
