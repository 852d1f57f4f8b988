package mask

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// A class is a set of characters. A stand-in replaces each character by one of the same class.
type class struct {
	low   rune
	radix uint64
	in    string // the characters; "" for consecutive characters that begin with low
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

// characters returns the class of a character in text. Digits are a class, and so are small letters and capital
// letters. Outside ASCII, each block of 64 characters is a class, so that the length in bytes does not change. All
// other characters stay as they are; for these, characters returns false.
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

// mostPermuted is the largest number of characters that a permutation replaces. Half of this number have at most
// 64^10 values, which fit into 64 bits.
const mostPermuted = 20

// shaped returns a stand-in of the same shape, in which each character is of the same class as in text. Up to
// mostPermuted characters, it applies a permutation of all texts of this shape: different texts have different
// stand-ins, and no text stays the same. For a longer text, it draws each character by a hash of the whole text. Two
// such stand-ins are equal with a probability of less than 2^-64.
func (m mint) shaped(text string, of func(rune) (class, bool)) string {
	runes := []rune(text)
	frame := slices.Clone(runes) // text in which the first character of its class replaces each character
	var at []int
	var classes []class
	for i, r := range runes {
		if c, ok := of(r); ok {
			at, classes = append(at, i), append(classes, c)
			frame[i] = c.char(0)
		}
	}
	switch {
	case len(at) == 0:
		return text
	case len(at) <= mostPermuted:
		m.permute(runes, at, classes, m.digest(string(shape), string(frame)))
		return string(runes)
	}
	whole := string(m.digest(string(shape), text))
	for i, c := range classes {
		n := binary.BigEndian.Uint64(m.digest(string(shape), whole, strconv.Itoa(i)))
		runes[at[i]] = c.char(n % c.radix)
	}
	return string(runes)
}

// permute replaces the characters so that the text always changes: it applies a Feistel network, adds a number other
// than zero, and applies the inverse of the network. A random permutation would leave one in nine digits unchanged.
// The tweak selects the permutation.
func (m mint) permute(runes []rune, at []int, classes []class, tweak []byte) {
	f := &feistel{mint: m, tweak: string(tweak)}
	half := len(at) / 2
	halves := [2][2]int{{0, half}, {half, len(at)}}
	for h, part := range halves {
		f.domains[h] = 1
		for i := part[0]; i < part[1]; i++ {
			f.n[h] = f.n[h]*classes[i].radix + classes[i].index(runes[at[i]])
			f.domains[h] *= classes[i].radix
		}
	}

	f.mix()
	f.n[1] = (f.n[1] + 1 + f.add(rounds, 0)%(f.domains[1]-1)) % f.domains[1]
	f.unmix()
	for h, part := range halves {
		n := f.n[h]
		for i := part[1] - 1; i >= part[0]; i-- {
			runes[at[i]] = classes[i].char(n % classes[i].radix)
			n /= classes[i].radix
		}
	}
}

// rounds is the number of rounds of the Feistel network, as in FF1 of NIST SP 800-38G.
const rounds = 10

// A feistel is a Feistel network. Its state n has the two halves of a text as mixed-radix numbers. The halves are
// below the numbers in domains.
type feistel struct {
	mint       mint
	tweak      string
	n, domains [2]uint64
}

// add is the round function. From one half, it computes the number to add to the other half.
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
