package api_test

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sortkey/sortkey/internal/lines"
)

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 40) // twice the buffer size, and longer than the limit
	fits := strings.Repeat("y", 30)
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		in   io.Reader
		want []string
		read int64
	}{
		{"empty", strings.NewReader(""), []string{"EOF"}, 0},
		{"blanks", strings.NewReader(" a\t\r\n\n  \nb"), []string{"a", "", "", "b", "EOF"}, 10},
		{"line breaks at the end", strings.NewReader("a\n\n"), []string{"a", "", "EOF"}, 3},
		{"longest", strings.NewReader(fits + "\n" + fits), []string{fits, fits, "EOF"}, 61},
		{
			"too long", strings.NewReader("a\n" + long + "\nb\n" + long),
			[]string{"a", "too long", "b", "too long", "EOF"}, 85,
		},
		{"broken", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), []string{"a", "broken"}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := lines.New(bufio.NewReaderSize(tt.in, 16), 30)
			var got []string
			for done := false; !done; {
				line, err := r.Next()
				switch {
				case errors.Is(err, io.EOF):
					line, done = []byte("EOF"), true
				case errors.Is(err, broken):
					line, done = []byte("broken"), true
				case errors.Is(err, lines.ErrTooLong):
					line = []byte("too long")
				}
				got = append(got, string(line))
			}
			if !slices.Equal(got, tt.want) || r.Read() != tt.read {
				t.Errorf("lines %q of %d bytes, want %q of %d", got, r.Read(), tt.want, tt.read)
			}
		})
	}
}
