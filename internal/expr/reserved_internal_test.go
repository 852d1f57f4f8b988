package expr

import (
	"slices"
	"strings"
	"testing"
)

func TestReservedWords(t *testing.T) {
	words := strings.Fields(reservedWords)
	if len(words) != 573 || len(reserved) != 573 {
		t.Errorf("%d words, %d of them different, want 573", len(words), len(reserved))
	}
	if !slices.IsSorted(words) {
		t.Error("the words are not sorted")
	}
	for _, w := range words {
		if len(w) > maxReservedBytes || w != strings.ToUpper(w) {
			t.Errorf("%q is too long, or not in capitals", w)
		}
	}
}
