package transfer

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/internal/api/s3files"
)

// A dataWriter writes a data file of an export.
type dataWriter struct {
	*s3files.Writer
	name string
	file *os.File
}

// create creates the data file of a segment.
func (x *exporter) create(i int) (*dataWriter, error) {
	name := fmt.Sprintf("%05d.json.gz", i)
	f, err := openOwn(filepath.Join(x.dir, s3files.DataFolder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return &dataWriter{s3files.NewWriter(f, true), name, f}, nil
}

// finish writes the end of the file and makes it durable.
func (w *dataWriter) finish() error {
	if err := w.Close(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	return w.file.Close()
}
