package mask

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// A class is a set of characters that replace each other.
type class struct {
	low   rune
	radix uint64
	in    string // the characters; "" if they are the consecutive ones from low
}

func (c class) index(r rune) uint64 {
	if c.in != "" {
		return uint64(strings.IndexRune(c.in, r))
	}
	return uint64(r - c.low)
}

func (c class) char(i uint64) rune {
	if c.in != "" {
		return rune(c.in[i])
	}
	return c.low + rune(i)
}

// characters returns the class of a character in text. Digits, small letters and capital letters are classes, and so
// is each block of 64 characters outside ASCII, so that the length in bytes does not change. It reports false for all
// other characters, which stay as they are.
func characters(r rune) (class, bool) {
	switch {
	case '0' <= r && r <= '9':
		return class{low: '0', radix: 10}, true
	case 'a' <= r && r <= 'z':
		return class{low: 'a', radix: 26}, true
	case 'A' <= r && r <= 'Z':
		return class{low: 'A', radix: 26}, true
	case r < 0x80:
		return class{}, false
	}
	return class{low: r &^ 63, radix: 64}, true
}

func hexadecimal(r rune) (class, bool) {
	const digits = "0123456789abcdef"
	return class{radix: uint64(len(digits)), in: digits}, strings.ContainsRune(digits, r)
}

func crockford(r rune) (class, bool) {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	return class{radix: uint64(len(digits)), in: digits}, strings.ContainsRune(digits, r)
}

// chunk is the largest number of characters that are permuted together. Half a chunk has at most 64^8 values, which
// fit into 64 bits.
const chunk = 16

// shaped returns a stand-in of the same shape: each character stays in its class. It is a permutation of all texts of
// that shape, so different texts have different stand-ins.
//
// A text of up to one chunk never stays as it is. A longer text is divided into chunks of about the same size and
// encrypted in two passes, from the first chunk to the last and back. The output of the pass so far is the tweak for
// the next chunk. So each chunk of the result depends on all characters, and texts with a common part have no common
// part in their stand-ins.
func (m mint) shaped(text string, of func(rune) (class, bool)) string {
	runes := []rune(text)
	frame := slices.Clone(runes) // the text with each character replaced by the first one of its class
	var at []int
	var classes []class
	for i, r := range runes {
		if c, ok := of(r); ok {
			at, classes = append(at, i), append(classes, c)
			frame[i] = c.char(0)
		}
	}
	if len(at) == 0 {
		return text
	}

	count := (len(at) + chunk - 1) / chunk
	if count == 1 {
		m.permute(runes, at, classes, m.digest(string(shape), string(frame)))
		return string(runes)
	}
	for pass := range 2 {
		tweak := m.digest(string(shape), string(frame), strconv.Itoa(pass))
		for i := range count {
			if pass == 1 {
				i = count - 1 - i
			}
			from, to := i*len(at)/count, (i+1)*len(at)/count
			f := m.feistel(runes, at[from:to], classes[from:to], tweak)
			f.mix()
			f.write()
			tweak = m.digest(string(shape), string(tweak), f.text())
		}
	}
	return string(runes)
}

// permute replaces the characters so that the text always changes: it adds a number other than zero between a Feistel
// network and its inverse. A random permutation would leave one in nine digits unchanged.
func (m mint) permute(runes []rune, at []int, classes []class, tweak []byte) {
	f := m.feistel(runes, at, classes, tweak)
	f.mix()
	f.n[1] = (f.n[1] + 1 + f.add(rounds, 0)%(f.domains[1]-1)) % f.domains[1]
	f.unmix()
	f.write()
}

// rounds is the number of rounds of the Feistel network, as in FF1 of NIST SP 800-38G.
const rounds = 10

// A feistel is a Feistel network on some characters of a text. The tweak selects the permutation.
type feistel struct {
	mint       mint
	tweak      string
	runes      []rune
	at         []int
	classes    []class
	n, domains [2]uint64 // the two halves as mixed-radix numbers, and the sizes of their ranges
}

func (m mint) feistel(runes []rune, at []int, classes []class, tweak []byte) *feistel {
	f := &feistel{mint: m, tweak: string(tweak), runes: runes, at: at, classes: classes}
	for h, part := range f.halves() {
		f.domains[h] = 1
		for i := part[0]; i < part[1]; i++ {
			f.n[h] = f.n[h]*classes[i].radix + classes[i].index(runes[at[i]])
			f.domains[h] *= classes[i].radix
		}
	}
	return f
}

func (f *feistel) halves() [2][2]int {
	half := len(f.at) / 2
	return [2][2]int{{0, half}, {half, len(f.at)}}
}

// add is the round function: it returns the number to add to one half, given the other half.
func (f *feistel) add(round int, other uint64) uint64 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(round))
	binary.BigEndian.PutUint64(b[8:], other)
	return binary.BigEndian.Uint64(f.mint.digest(string(shape), f.tweak, string(b[:])))
}

func (f *feistel) mix() {
	for round := range rounds {
		h := round % 2
		f.n[h] = (f.n[h] + f.add(round, f.n[1-h])%f.domains[h]) % f.domains[h]
	}
}

// unmix is the inverse of mix.
func (f *feistel) unmix() {
	for round := rounds - 1; round >= 0; round-- {
		h := round % 2
		f.n[h] = (f.n[h] + f.domains[h] - f.add(round, f.n[1-h])%f.domains[h]) % f.domains[h]
	}
}

// write writes the two halves back into the text.
func (f *feistel) write() {
	for h, part := range f.halves() {
		n := f.n[h]
		for i := part[1] - 1; i >= part[0]; i-- {
			f.runes[f.at[i]] = f.classes[i].char(n % f.classes[i].radix)
			n /= f.classes[i].radix
		}
	}
}

// text returns the two halves in binary form.
func (f *feistel) text() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], f.n[0])
	binary.BigEndian.PutUint64(b[8:], f.n[1])
	return string(b[:])
}
