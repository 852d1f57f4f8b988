// Package files reads files that a user names.
package files

import (
	"io"
	"os"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// Open opens a file no larger than most, in bytes. It refuses larger files, and pipes and devices, which may never
// end. It does open those in /dev/fd, such as <(command) in bash: whoever reads them must enforce the limit.
func Open(path string, most int64) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := Check(path, info, most); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Check returns the error of [Open] for a file that exists.
func Check(path string, info os.FileInfo, most int64) error {
	opened := strings.HasPrefix(path, "/dev/fd/") || path == "/dev/stdin"
	switch {
	case info.Mode().IsRegular() && info.Size() > most:
		return advice.New("", "%s is larger than %s", path, text.Size(most))
	case info.IsDir():
		return advice.New("name a file in it", "%s is a folder, not a file", path)
	case !info.Mode().IsRegular() && !opened:
		return advice.New("write what it has to a file first", "%s is a pipe or a device, not a file", path)
	}
	return nil
}

// Read reads a file that [Open] opens.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = advice.New("", "%s is larger than %s", path, text.Size(most))
	}
	return data, err
}
