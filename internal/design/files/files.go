// Package files opens and reads files that a user names, up to a limit of bytes.
package files

import (
	"io"
	"os"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// Open opens a regular file. It returns an error if the file has more than most bytes, or is a pipe or a device,
// which may never end. The exceptions are standard input and pipes in /dev/fd, such as <(command) in bash: the caller
// must limit what it reads from them.
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

// Check returns the error that [Open] would return for a file that exists.
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

// Read opens a file with [Open] and returns its content. It returns an error if the content is larger than most
// bytes.
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
