package item_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/token"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A walk reads one text with a Reader and with the decoder of package jsontext, and compares what they return. Where
// an object or list begins, the next bit of steps decides whether to go into it or to read it as a whole.
type walk struct {
	*testing.T
	text  []byte
	own   token.Reader
	dec   *jsontext.Decoder
	lib   doc.Source
	open  []byte // the objects and lists that the walk is in, as '{' and '['
	steps uint64
}

func checkReader(t *testing.T, text []byte, steps uint64) {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	w := walk{T: t, text: text, dec: dec, lib: doc.From(dec), steps: steps}
	w.own.Reset(text)
	for w.value() {
		if len(w.open) > 0 {
			continue
		}
		_, end := dec.ReadToken()
		if errors.Is(end, io.EOF) {
			end = nil
		} else if end == nil {
			end = errors.New("one more token")
		}
		w.failed("End", w.own.End(), end)
		return
	}
}

// failed reports whether both readers failed.
func (w *walk) failed(what string, own, lib error) bool {
	w.Helper()
	if (own == nil) != (lib == nil) {
		w.Errorf("%q: %s returns %v, the library %v", w.text, what, own, lib)
	}
	return own != nil || lib != nil
}

// value reads the next value, or the end of the object or list. It returns false after an error.
func (w *walk) value() bool {
	if len(w.open) > 0 {
		more, ok := w.more()
		if !ok {
			return false
		}
		if !more {
			w.open = w.open[:len(w.open)-1]
			w.place()
			return true
		}
	}

	kind, want := w.own.Peek(), w.lib.Peek()
	if known := `nft"0{[`; kind != want && (strings.IndexByte(known, kind) >= 0 || strings.IndexByte(known, want) >= 0) {
		w.Errorf("%q: Peek returns %q, the library %q", w.text, kind, want)
		return false
	}
	into := w.steps&1 == 1
	if kind == '{' || kind == '[' {
		w.steps = w.steps>>1 | w.steps<<63
	}
	if into && (kind == '{' || kind == '[') {
		w.open = append(w.open, kind)
		return !w.failed("Open", w.own.Open(), w.lib.Open())
	}
	own, err := w.own.Value()
	lib, other := w.lib.Value()
	if w.failed("Value", err, other) {
		return false
	}
	if !bytes.Equal(own, lib) || token.Kind(own) != byte(jsontext.Value(lib).Kind()) {
		w.Errorf("%q: Value returns %q, the library %q", w.text, own, lib)
	}
	w.string(own, lib)
	w.place()
	return true
}

// more reads the next name of an object, or asks whether a list has another element.
func (w *walk) more() (more, ok bool) {
	if w.open[len(w.open)-1] == '[' {
		own, lib := w.own.More(), w.lib.More()
		if own != lib {
			w.Errorf("%q: More returns %v, the library %v", w.text, own, lib)
		}
		return own, own == lib
	}
	own, more, err := w.own.Name()
	lib, more2, other := w.lib.Name()
	if w.failed("Name", err, other) {
		return false, false
	}
	if more != more2 || !bytes.Equal(own, lib) {
		w.Errorf("%q: Name returns %q, %v, the library %q, %v", w.text, own, more, lib, more2)
		return false, false
	}
	w.string(own, lib)
	return more, true
}

// string compares the texts of a string.
func (w *walk) string(own, lib []byte) {
	if len(own) == 0 || own[0] != '"' {
		return
	}
	want := w.lib.Text(lib)
	if text := w.own.Text(own); !bytes.Equal(text, want) {
		w.Errorf("%q: Text(%q) = %q, the library %q", w.text, own, text, want)
	}
	if text := w.own.AppendText([]byte("x"), own); !bytes.Equal(text[1:], want) {
		w.Errorf("%q: AppendText(%q) = %q, the library %q", w.text, own, text, want)
	}
}

// place compares the paths to the value just read.
func (w *walk) place() {
	if len(w.open) > 100 {
		return // making a path takes time proportional to its length
	}
	want := strings.TrimPrefix(string(w.dec.StackPointer()), "/")
	want = strings.NewReplacer("/", ".", "~1", "/", "~0", "~").Replace(want)
	if got := w.own.Path(); got != want {
		w.Errorf("%q: Path() = %q before %d, want %q", w.text, got, w.own.Offset(), want)
	}
}

// texts are valid. The tests change them to make malformed ones.
var texts = []string{
	`{"id":{"S":"customer#42"},"n":{"N":"12.5"},"l":{"L":[{"BOOL":true},{"NULL":true},{"M":{}}]}}`,
	` { "a" : [ 1 , -0.5e+10 , 0 , "x\n\u00e9\ud83d\ude00" , null , false ] , "a" : {} } `,
	`{"a/b~c.d":{"":[[],[[0]],{"é😀":"\"\\\/\b\f\r\t"}]}}`, `[1e5,2E-7,3.25,-1,1234567890123456789]`,
	`"\ud83d\ude00 and \u2028 and 12345678\u0041 123456789012345 \\"`, `"日本語\ufffd"`, `-0`, `true`, `null`,
	`{"x":"\ud800"}`, `{"x":"\udc00\ud800"}`, `"\ud83dx"`, `"\ud83d\u0041"`, `{"a":01}`, `[1.]`, `[-]`, `[1e+]`, `[nul]`,
	`{"a"`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{1:2}`, `{{}:1}`, `{"a":1]`, `[1}`, `[1 2]`, `{"a" 1}`, `{} {}`, `{},`,
	``, ` `, `]`, `}`, `:1`, `,1`, "\x00", "[\x00]", "[1\x00]", "\"\x1f\"", "\"\x7f\"", "\"\xff\"", "\"\xe2\x82\"", "\ufeff1",
	"\"\xed\xa0\x80\"", "\t\r\n1\v", `"\u00e"`, `"\x"`, `"\U0041"`, `"\u+041"`, `"\u0_41"`, `"`, `"\`, `"\u`,
}

// TestReader reads each text as a whole and in steps. It does the same with each beginning of the text, and with each
// byte of the text replaced.
func TestReader(t *testing.T) {
	for _, text := range texts {
		for _, steps := range []uint64{0, 1<<64 - 1, 0x5555555555555555, 0x3333333333333333} {
			checkReader(t, []byte(text), steps)
			for i := range text {
				checkReader(t, []byte(text[:i]), steps)
				for _, piece := range []string{"", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "e", ".", " ", "\x01", "\x80", "é"} {
					checkReader(t, []byte(text[:i]+piece+text[i+1:]), steps)
				}
			}
		}
	}
}

// TestReaderStrings reads strings of each length, with each special byte at each place.
func TestReaderStrings(t *testing.T) {
	proptest.SkipShort(t)
	for _, piece := range pieces() {
		for length := range 41 {
			for at := range length + 1 {
				checkReader(t, []byte(`["`+strings.Repeat("a", at)+piece+strings.Repeat("~", length-at)+`"]`), 1)
			}
		}
	}
}

func TestReaderDepth(t *testing.T) {
	for _, depth := range []int{9_999, 10_000, 10_001, 100_000} {
		for _, text := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth), strings.Repeat("[", depth),
			strings.Repeat(`{"a":`, depth) + "0" + strings.Repeat("}", depth),
		} {
			for _, steps := range []uint64{0, 1<<64 - 1, 1} {
				checkReader(t, []byte(text), steps)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text), uint64(0))
		f.Add([]byte(text), uint64(1<<64-1))
	}
	f.Fuzz(checkReader)
}
