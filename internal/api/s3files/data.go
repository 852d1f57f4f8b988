package s3files

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"hash"
	"io"

	"github.com/sortkey/sortkey/attr"
)

// AppendItem appends an item as a line of a data file.
func AppendItem(dst []byte, it attr.Item) []byte {
	dst = append(dst, `{"Item":`...)
	dst = it.AppendJSON(dst)
	return append(dst, "}\n"...)
}

// ParseItem returns the item in a line of a data file, or false if the line has no valid item.
func ParseItem(line []byte) (attr.Item, bool) {
	var x struct{ Item json.RawMessage }
	if err := json.Unmarshal(line, &x); err != nil || x.Item == nil {
		return nil, false
	}
	it, err := attr.ParseItem(x.Item)
	return it, err == nil
}

// writeBuffer is the size in bytes of the write buffer for a data file.
const writeBuffer = 128 << 10

// A Writer writes a data file. It is not safe for concurrent use.
type Writer struct {
	// Items is the number of items. WriteItem counts the items that it writes. A caller that writes lines itself must
	// add their items.
	Items int64

	file io.Writer
	sum  hash.Hash // of the bytes in the file
	size int64     // of the file
	buf  *bufio.Writer
	zip  *gzip.Writer // nil if the file is not compressed
	line []byte
}

// NewWriter returns a Writer that writes to the empty file, with gzip if compress is true.
func NewWriter(file io.Writer, compress bool) *Writer {
	w := &Writer{file: file, sum: NewHash()}
	w.buf = bufio.NewWriterSize((*fileWriter)(w), writeBuffer)
	if compress {
		w.zip = gzip.NewWriter(w.buf)
	}
	return w
}

// A fileWriter is the part of a Writer that writes to the file, below the buffer and the compression. It updates sum
// and size.
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

// WriteItem writes an item as a line.
func (w *Writer) WriteItem(it attr.Item) error {
	w.Items++
	w.line = AppendItem(w.line[:0], it)
	_, err := w.Write(w.line)
	return err
}

// Close writes the buffered data. It does not close the file.
func (w *Writer) Close() error {
	if w.zip != nil {
		if err := w.zip.Close(); err != nil {
			return err
		}
	}
	return w.buf.Flush()
}

// Size returns the size of the file in bytes. Call it after Close.
func (w *Writer) Size() int64 { return w.size }

// DataFile returns the manifest's entry for the file. Call it after Close.
func (w *Writer) DataFile(key string) *DataFile {
	sum := w.sum.Sum(nil)
	return &DataFile{ItemCount: w.Items, MD5Checksum: Checksum(sum), ETag: etag(sum), DataFileS3Key: key}
}
