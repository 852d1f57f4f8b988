package item_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/item/token"
)

// checkQuote compares AppendQuote with the quoter of package jsontext, which works byte by byte.
func checkQuote(t *testing.T, text []byte) {
	t.Helper()
	want, _ := jsontext.AppendQuote([]byte("x"), text)
	got := token.AppendQuote([]byte("x"), text)
	if !bytes.Equal(got, want) {
		t.Errorf("AppendQuote(%q) = %s, want %s", text, got, want)
	}
	if n := token.QuotedLen(text); n != len(want)-1 {
		t.Errorf("QuotedLen(%q) = %d, want %d", text, n, len(want)-1)
	}
}

// pieces returns text that may need special treatment: bytes on both sides of each bound, and characters of several
// bytes.
func pieces() []string {
	list := []string{"é", "€", "😀", "\u2028", "\ufffd", "\xed\xa0\x80", "\xe2\x82", "\"\\", "\\\"", "\x1f\x80", "\x01\xff"}
	for c := range 256 {
		if c < 0x30 || c > 0x50 && c < 0x60 || c > 0x70 && c < 0x90 || c&0xF < 2 || c == 0xFF {
			list = append(list, string([]byte{byte(c)}))
		}
	}
	return list
}

func TestAppendQuote(t *testing.T) {
	for _, piece := range pieces() {
		for length := range 41 {
			for at := range length + 1 {
				checkQuote(t, []byte(strings.Repeat("a", at)+piece+strings.Repeat("~", length-at)))
			}
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, piece := range pieces() {
		f.Add([]byte("1234567" + piece + "89"))
	}
	f.Fuzz(checkQuote)
}
