package transfer

import (
	"bufio"
	"compress/gzip"
	"crypto/md5" //nolint:gosec // the checksum of the service's manifests
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// A dataWriter writes a data file.
type dataWriter struct {
	name  string
	file  *os.File
	sum   hash.Hash // MD5 of the bytes in the file
	size  int64     // of the file
	count int64     // of items
	buf   *bufio.Writer
	zip   *gzip.Writer
}

// Write writes bytes to the file, and adds them to its size and checksum.
func (w *dataWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.sum.Write(p[:n])
	w.size += int64(n)
	return n, err
}

// create creates the data file of a segment.
func (x *exporter) create(i int) (*dataWriter, error) {
	ending := map[Format]string{DynamoDB: ".json", JSON: ".jsonl", CSV: ".csv"}[x.o.Format]
	if !x.o.Plain {
		ending += ".gz"
	}
	w := &dataWriter{name: fmt.Sprintf("%05d%s", i, ending), sum: md5.New()} //nolint:gosec // as above
	f, err := openOwn(filepath.Join(x.dir, dataFolder, w.name), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	w.file = f
	w.buf = bufio.NewWriterSize(w, 128<<10)
	if !x.o.Plain {
		w.zip = gzip.NewWriter(w.buf)
	}
	return w, nil
}

func (w *dataWriter) writer() io.Writer {
	if w.zip != nil {
		return w.zip
	}
	return w.buf
}

// finish completes the file and makes it durable.
func (w *dataWriter) finish() error {
	if w.zip != nil {
		if err := w.zip.Close(); err != nil {
			return err
		}
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	return w.file.Close()
}
