package mask

import (
	"encoding/binary"
	"strings"
)

// A class is a set of characters that stand for one another.
type class struct {
	low   rune
	radix uint64
	in    string // the characters, unless they follow low one after the other
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

// characters are the classes of text: digits, small and capital letters, and blocks of 64 for what is
// not ASCII, so that the length in bytes stays. It reports false for what stays as it is.
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

// chunk is the number of characters that are permuted together. Half of them have at most 64^8 values,
// which fit into 64 bits.
const chunk = 16

// shaped returns a text of the same shape. It is a permutation of all texts of that shape, so different
// texts stay different.
func (m mint) shaped(text string, of func(rune) (class, bool)) string {
	runes := []rune(text)
	var at []int
	var classes []class
	for i, r := range runes {
		if c, ok := of(r); ok {
			at, classes = append(at, i), append(classes, c)
		}
	}
	for n := 0; len(at) > 0; n++ {
		k := min(chunk, len(at))
		m.permute(runes, at[:k], classes[:k], uint64(n))
		at, classes = at[k:], classes[k:]
	}
	return string(runes)
}

// rounds of the Feistel network, as in FF1 of NIST SP 800-38G.
const rounds = 10

// permute replaces some characters so that their text never stays the same: it adds a number that is not
// zero between a Feistel network and its inverse. A permutation that was only random would leave one of nine
// digits as it is.
func (m mint) permute(runes []rune, at []int, classes []class, tweak uint64) {
	half := len(at) / 2
	parts := [2][2]int{{0, half}, {half, len(at)}}
	var n, domains [2]uint64 // the two halves, each a number whose digits have the radices of the classes
	for h, part := range parts {
		domains[h] = 1
		for i := part[0]; i < part[1]; i++ {
			n[h] = n[h]*classes[i].radix + classes[i].index(runes[at[i]])
			domains[h] *= classes[i].radix
		}
	}

	add := func(round int, other uint64) uint64 {
		var b [32]byte
		for i, v := range []uint64{tweak, uint64(round), other, domains[0] ^ domains[1]<<1} {
			binary.BigEndian.PutUint64(b[8*i:], v)
		}
		return binary.BigEndian.Uint64(m.digest("shape", string(b[:])))
	}
	for round := range rounds {
		h := round % 2
		n[h] = (n[h] + add(round, n[1-h])%domains[h]) % domains[h]
	}
	n[1] = (n[1] + 1 + add(rounds, 0)%(domains[1]-1)) % domains[1]
	for round := rounds - 1; round >= 0; round-- {
		h := round % 2
		n[h] = (n[h] + domains[h] - add(round, n[1-h])%domains[h]) % domains[h]
	}

	for h, part := range parts {
		for i := part[1] - 1; i >= part[0]; i-- {
			runes[at[i]] = classes[i].char(n[h] % classes[i].radix)
			n[h] /= classes[i].radix
		}
	}
}
