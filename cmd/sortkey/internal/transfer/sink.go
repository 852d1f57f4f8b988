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

// A sink is a data file being written.
type sink struct {
	name  string
	file  *os.File
	sum   hash.Hash
	size  int64
	count int64
	buf   *bufio.Writer
	zip   *gzip.Writer
}

// Write counts and sums what goes into the file.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.sum.Write(p[:n])
	s.size += int64(n)
	return n, err
}

func (x *exporter) create(i int) (*sink, error) {
	ending := map[Format]string{DynamoDB: ".json", JSON: ".jsonl", CSV: ".csv"}[x.o.Format]
	if !x.o.Plain {
		ending += ".gz"
	}
	s := &sink{name: fmt.Sprintf("%05d%s", i, ending), sum: md5.New()} //nolint:gosec // as above
	f, err := os.Create(filepath.Join(x.dir, dataFolder, s.name))
	if err != nil {
		return nil, err
	}
	s.file = f
	s.buf = bufio.NewWriterSize(s, 128<<10)
	if !x.o.Plain {
		s.zip = gzip.NewWriter(s.buf)
	}
	return s, nil
}

func (s *sink) writer() io.Writer {
	if s.zip != nil {
		return s.zip
	}
	return s.buf
}

// finish ends the file and makes it durable.
func (s *sink) finish() error {
	if s.zip != nil {
		if err := s.zip.Close(); err != nil {
			return err
		}
	}
	if err := s.buf.Flush(); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	return s.file.Close()
}
