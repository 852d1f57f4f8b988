package s3files

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"hash"
	"io"

	"github.com/sortkey/sortkey/attr"
)

// AppendItem appends the line of an item.
func AppendItem(dst []byte, it attr.Item) []byte {
	dst = append(dst, `{"Item":`...)
	dst = it.AppendJSON(dst)
	return append(dst, "}\n"...)
}

// ParseItem returns the item of a line.
func ParseItem(line []byte) (attr.Item, bool) {
	var x struct{ Item json.RawMessage }
	if err := json.Unmarshal(line, &x); err != nil || x.Item == nil {
		return nil, false
	}
	it, err := attr.ParseItem(x.Item)
	return it, err == nil
}

// writeBuffer is how much of a data file is written at a time, in bytes.
const writeBuffer = 128 << 10

// A Writer writes a data file. It is not safe for concurrent use.
type Writer struct {
	// Items is the number of items. WriteItem counts its own; a caller that writes other lines adds
	// them.
	Items int64

	file io.Writer
	sum  hash.Hash // of the bytes in the file
	size int64     // of the file
	buf  *bufio.Writer
	zip  *gzip.Writer // nil if the file is not compressed
	line []byte
}

// NewWriter returns a writer of a file that is empty.
func NewWriter(file io.Writer, compress bool) *Writer {
	w := &Writer{file: file, sum: NewHash()}
	w.buf = bufio.NewWriterSize((*fileWriter)(w), writeBuffer)
	if compress {
		w.zip = gzip.NewWriter(w.buf)
	}
	return w
}

// A fileWriter is the end of a Writer at the file.
type fileWriter Writer

func (w *fileWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.sum.Write(p[:n])
	w.size += int64(n)
	return n, err
}

// Write writes lines.
func (w *Writer) Write(lines []byte) (int, error) {
	if w.zip != nil {
		return w.zip.Write(lines)
	}
	return w.buf.Write(lines)
}

// WriteItem writes the line of an item.
func (w *Writer) WriteItem(it attr.Item) error {
	w.Items++
	w.line = AppendItem(w.line[:0], it)
	_, err := w.Write(w.line)
	return err
}

// Close completes the file, which it does not close.
func (w *Writer) Close() error {
	if w.zip != nil {
		if err := w.zip.Close(); err != nil {
			return err
		}
	}
	return w.buf.Flush()
}

// Size returns the size of the file that Close has completed.
func (w *Writer) Size() int64 { return w.size }

// DataFile returns the line of the manifest for the file that Close has completed.
func (w *Writer) DataFile(key string) *DataFile {
	sum := w.sum.Sum(nil)
	return &DataFile{ItemCount: w.Items, MD5Checksum: Checksum(sum), ETag: etag(sum), DataFileS3Key: key}
}
