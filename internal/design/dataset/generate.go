package dataset

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// Every generated value is a function of the seed, the name of the field and the number of the item. No draw depends
// on a previous one, and all arithmetic uses integers, so equal seeds give equal bytes on every machine.

// hash64 returns the FNV-1a hash of parts after mix, which makes every bit depend on all parts.
func hash64(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return mix(h)
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// draw returns a uniformly distributed number in [0, n).
func draw(rng *rand.PCG, n uint64) uint64 {
	if n <= 1 {
		return 0
	}
	limit := -n % n // 2^64 mod n
	for {
		if x := rng.Uint64(); x >= limit {
			return x % n
		}
	}
}

// A domain generates the values of one field.
type domain struct {
	f    *model.Field
	seed uint64
	b    *model.Bounds
	// size is the number of different values; 0 means a new value for each item.
	size uint64
	// owned is the number of items of the entity whose whole key is this field, or 0 if there is no such entity. If
	// it is not 0, the domain has as many values as items, unless the definition of the field limits the values. The
	// items also take the spare values, in place of values that samples have. Items of other entities do not take
	// spare values, so that each value leads to an item.
	owned, spare uint64
	zipf         *zipf
}

func newDomain(f *model.Field, seed uint64, owner string, owned, spare uint64) (*domain, error) {
	d := &domain{f: f, seed: mix(seed ^ hash64(owner, cmp.Or(f.Origin, f.Name))), owned: owned, spare: spare}
	b, err := f.Bounds()
	if err != nil {
		return nil, err
	}

	d.b = b
	switch {
	case len(f.Values) > 0:
		d.size = uint64(len(f.Values))
	case len(f.Type.Values) > 0:
		d.size = uint64(len(f.Type.Values))
	case f.Distinct > 0:
		d.size = uint64(f.Distinct)
		if b != nil && !idLike(f.Type.Name) {
			d.size = min(d.size, b.Count())
		}
	case owned > 0 && (b == nil || idLike(f.Type.Name) || b.Count() >= owned+spare):
		d.size = owned + spare
	case b != nil && !idLike(f.Type.Name):
		d.size = b.Count()
	}

	if f.Distribution.Name == "zipf" {
		if d.size == 0 || d.size > maxZipf {
			return nil, fmt.Errorf("a zipf distribution needs values, or distinct of at most %d", maxZipf)
		}
		d.zipf = newZipf(int(d.size), f.Distribution.Skew)
	}
	return d, nil
}

// idLike reports whether values of a type are unique ids that contain a time.
func idLike(name string) bool { return name == "ulid" || name == "ksuid" }

// value returns the text form of the value for an item. The parameter of is the number of items. attempt is how often
// the item was redrawn because its key was taken. If owns is true, the items take the values in turn, so that no two
// items have the same value.
func (d *domain) value(entity, item, of, attempt uint64, owns bool) string {
	if d.size == 0 {
		if d.f.Distribution.Name == "sequence" {
			return d.fresh(item, of)
		}
		return d.fresh(mix(entity)^item, 0)
	}
	return d.text(d.index(entity, item, of, attempt, owns), of)
}

// index returns the index of the value that an item gets.
func (d *domain) index(entity, item, of, attempt uint64, owns bool) uint64 {
	if owns || d.f.Distribution.Name == "sequence" {
		if d.f.Distribution.Name == "sequence" && d.spreads() && of < d.size {
			return item * (d.size / of)
		}
		return (item + attempt) % d.size
	}
	rng := rand.NewPCG(mix(d.seed^entity), mix(item)+attempt)
	i := uint64(0)
	if d.zipf != nil {
		i = d.zipf.draw(rng)
	} else {
		i = draw(rng, d.size)
	}
	if d.owned > 0 && d.size == d.owned+d.spare {
		return i % d.owned
	}
	return i
}

// spreads reports whether a sequence divides the range between its bounds evenly among the items. Times do this;
// other sequences count by one.
func (d *domain) spreads() bool {
	return d.b != nil && d.b.Unit != 0 && len(d.f.Values) == 0 && d.f.Distinct == 0 && d.owned == 0
}

// text returns the i-th value.
func (d *domain) text(i, of uint64) string {
	f := d.f
	switch {
	case len(f.Values) > 0:
		return f.Values[i]
	case len(f.Type.Values) > 0:
		return f.Type.Values[i]
	case d.b == nil || idLike(f.Type.Name):
		return d.fresh(i, 0)
	case d.size == d.b.Count() || d.b.Unit == 0 && !d.b.Given:
		return d.b.Text(d.b.Low + int64(i))
	}
	return d.b.Spread(i, d.size)
}

const (
	letters   = "abcdefghijklmnopqrstuvwxyz"
	alphabet  = "abcdefghijklmnopqrstuvwxyz0123456789"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// fresh returns value i of a domain without a size. If the parameter of is not 0, it is the number of values, and ids
// that contain a time then ascend with i.
func (d *domain) fresh(i, of uint64) string {
	rng := rand.NewPCG(d.seed, mix(i+0x9e3779b97f4a7c15))
	switch d.f.Type.Name {
	case "uuid":
		return uuid(rng)
	case "hex":
		return digits(rng, "0123456789abcdef", d.f.Type.Width)
	case "ulid":
		return ulid(uint64(d.b.Low)+d.moment(rng, i, of), rng)
	case "ksuid":
		return ksuid(uint64(d.b.Low)+d.moment(rng, i, of), rng)
	case "path":
		return d.path(rng)
	}
	if d.f.Type.Name != "" && d.f.Type.Name != "string" && d.b != nil {
		return d.b.Text(d.b.Low + int64(draw(rng, d.b.Count())))
	}
	return word(rng, d.length(rng, 12))
}

// moment returns the time of an id, as an offset from the lower bound. If the parameter of is 0, the offset is
// random. Otherwise, it is the number of values, and the offsets ascend with i.
func (d *domain) moment(rng *rand.PCG, i, of uint64) uint64 {
	if of == 0 {
		return draw(rng, d.b.Count())
	}
	step := d.b.Count() / of
	return min(i*max(step, 1), d.b.Count()-1)
}

func (d *domain) length(rng *rand.PCG, otherwise int) int {
	if d.f.MaxSize == 0 {
		return otherwise
	}
	return d.f.MinSize + int(draw(rng, uint64(d.f.MaxSize-d.f.MinSize+1)))
}

// word returns n random letters and digits. It contains no delimiter, and begins with a letter, so it is never a
// number. A long word repeats its first KB.
func word(rng *rand.PCG, n int) string {
	if n <= 0 {
		return ""
	}
	var scratch [64]byte
	b := scratch[:]
	if n > len(b) {
		b = make([]byte, n)
	}
	fill(b[:1], rng, letters)
	fill(b[1:min(n, 1024)], rng, alphabet)
	for i := 1024; i < n; i *= 2 {
		copy(b[i:n], b[:i])
	}
	return string(b[:n])
}

func digits(rng *rand.PCG, of string, n int) string {
	b := make([]byte, n)
	fill(b, rng, of)
	return string(b)
}

// fill fills b with random characters from of.
func fill(b []byte, rng *rand.PCG, of string) {
	var random uint64
	for i := range b {
		if i%8 == 0 {
			random = rng.Uint64()
		}
		b[i] = of[random&0xff*uint64(len(of))>>8]
		random >>= 8
	}
}

func (d *domain) path(rng *rand.PCG) string {
	n := d.length(rng, 0)
	if n == 0 {
		depth := 1 + draw(rng, 4)
		parts := make([]string, depth)
		for i := range parts {
			parts[i] = word(rng, 3+int(draw(rng, 6)))
		}
		return strings.Join(parts, "/")
	}
	b := []byte(word(rng, n))
	for i := 6; i < n-1; i += 7 {
		b[i] = '/'
	}
	return string(b)
}

func uuid(rng *rand.PCG) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], rng.Uint64())
	binary.BigEndian.PutUint64(b[8:], rng.Uint64())
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ulid encodes 48 bits of milliseconds and 80 random bits.
func ulid(ms uint64, rng *rand.PCG) string {
	var b [26]byte
	for i := 9; i >= 0; i-- {
		b[i] = crockford[ms&31]
		ms >>= 5
	}
	copy(b[10:], digits(rng, crockford, 16))
	return string(b[:])
}

// ksuidEpoch is the start of KSUID time in Unix seconds.
const ksuidEpoch = 1_400_000_000

// ksuid encodes 32 bits of seconds and 128 random bits in 27 digits.
func ksuid(sec uint64, rng *rand.PCG) string {
	var raw [20]byte
	binary.BigEndian.PutUint32(raw[:], uint32(max(sec, ksuidEpoch)-ksuidEpoch))
	binary.BigEndian.PutUint64(raw[4:], rng.Uint64())
	binary.BigEndian.PutUint64(raw[12:], rng.Uint64())
	n, base, digit := new(big.Int).SetBytes(raw[:]), big.NewInt(62), new(big.Int)
	var b [27]byte
	for i := 26; i >= 0; i-- {
		n.DivMod(n, base, digit)
		b[i] = base62[digit.Int64()]
	}
	return string(b[:])
}

// maxZipf is the largest number of values of a zipf distribution. It bounds memory: each value takes eight bytes.
const maxZipf = 1_000_000

// A zipf draws number i with a weight of 1/(i+1)^skew. It uses integers, so that all processors give the same result.
type zipf struct{ sums []uint64 }

func newZipf(n int, skew float64) *zipf {
	s := uint64(skew*65536 + 0.5)
	z := &zipf{sums: make([]uint64, n)}
	var sum uint64
	for i := range z.sums {
		sum += max(power(uint64(i)+1, s), 1)
		z.sums[i] = sum
	}
	return z
}

func (z *zipf) draw(rng *rand.PCG) uint64 {
	x := draw(rng, z.sums[len(z.sums)-1])
	return uint64(sort.Search(len(z.sums), func(i int) bool { return z.sums[i] > x }))
}

// weight returns the weight of number i.
func (z *zipf) weight(i uint64) uint64 {
	if i == 0 {
		return z.sums[0]
	}
	return z.sums[i] - z.sums[i-1]
}

// roots[k] is 2^(-1/2^(k+1)) as a fixed-point number with 63 fraction bits.
var roots = func() (all [32]uint64) {
	c := new(big.Int).Lsh(big.NewInt(1), 62)
	for k := range all {
		c.Sqrt(c.Lsh(c, 63))
		all[k] = c.Uint64()
	}
	return all
}()

// power returns n^(-s/65536) as a fixed-point number with 40 fraction bits.
func power(n, s uint64) uint64 {
	whole, frac := log2(n)
	// e = s/2^16 * (whole + frac/2^32), the negated exponent of 2, with 32 fraction bits.
	hi := (s * whole) << 16
	lo := new(big.Int).SetUint64(s)
	lo.Rsh(lo.Mul(lo, new(big.Int).SetUint64(frac)), 16)
	e := hi + lo.Uint64()
	if e>>32 >= 40 {
		return 0
	}
	x := uint64(1) << 63
	for k := range roots {
		if e&(1<<(31-k)) != 0 {
			x = mulShift(x, roots[k])
		}
	}
	return x >> 23 >> (e >> 32)
}

// log2 returns the binary logarithm of n: its whole part, and its fraction with 32 bits.
func log2(n uint64) (whole, frac uint64) {
	for m := n; m > 1; m >>= 1 {
		whole++
	}
	x := n << (63 - whole) // n / 2^whole with 63 fraction bits
	for range 32 {
		frac <<= 1
		hi, lo := bits.Mul64(x, x)
		if hi>>63 != 0 { // the square is 2 or more
			frac |= 1
			x = hi
		} else {
			x = hi<<1 | lo>>63
		}
	}
	return whole, frac
}

func mulShift(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<1 | lo>>63
}
