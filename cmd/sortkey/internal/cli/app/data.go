package app

import (
	"io"
	"unicode/utf8"
)

// maxRune is the largest number of bytes of an incomplete UTF-8 character.
const maxRune = utf8.UTFMax - 1

// Data returns a writer of data to Stdout. If Stdout is a terminal, the writer passes the data through the function
// visible, so that control characters and direction marks in it cannot change what a person sees. Otherwise the
// writer does not change the data.
func (e *Env) Data(visible func(string) string) io.Writer {
	if e.Width() == 0 {
		return e.Stdout
	}
	return &dataWriter{w: e.Stdout, visible: visible}
}

// A dataWriter writes data to a terminal. It passes only complete UTF-8 characters to visible, even if a Write ends
// within a character.
type dataWriter struct {
	w       io.Writer
	visible func(string) string
	rest    []byte // the start of a character whose other bytes come with the next Write
}

// Write implements [io.Writer].
func (d *dataWriter) Write(p []byte) (int, error) {
	data := append(d.rest, p...)
	end := len(data)
	for i := end - 1; i >= 0 && i >= end-maxRune; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				end = i
			}
			break
		}
	}
	d.rest = append([]byte(nil), data[end:]...)
	if _, err := io.WriteString(d.w, d.visible(string(data[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
