// Package proptest runs properties on random cases, using gopter.
//
// A property is a function of a [T]. It draws its random choices from the T and reports failures to it, as a test
// does to a testing.T. The choices come from a tape of bytes. If a tape fails, proptest shrinks it by removing parts
// and by making numbers smaller. A native fuzz target can use its input as a tape ([Fuzz]). Tapes suit properties
// that draw thousands of dependent choices, such as histories of a whole database: gopter's generators choose before
// a case runs, and would have to be combined with FlatMap at every step. Where the choices are known beforehand,
// properties use gopter's own generators, shrinkers and commands, which read like a specification (packages
// internal/item, keycond and store/storetest).
//
// Runs use a fixed seed, so they are reproducible. SORTKEY_SEED sets another seed, or a random one if it is "random".
// SORTKEY_CHECKS multiplies the number of cases. SORTKEY_LONG runs long tests ([NeedLong]) and twenty times as many
// cases.
package proptest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"
)

// Seed returns the seed of this run.
var Seed = sync.OnceValue(func() int64 {
	switch s := os.Getenv("SORTKEY_SEED"); s {
	case "":
		return 1
	case "random":
		return rand.Int64N(1 << 53)
	default:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			panic("SORTKEY_SEED must be a number or the word random, not " + s)
		}
		return n
	}
})

// Tests keep little memory but allocate a lot of it briefly. Short runs collect garbage less often, which is faster.
func init() {
	if !Long() {
		debug.SetGCPercent(400)
	}
}

// Cases returns the number of cases for a property: n in a long run, such as .ci/run, and a twentieth of n in other
// runs. If SORTKEY_CHECKS is set, it returns that many times n.
func Cases(n int) int {
	if x, err := strconv.ParseFloat(os.Getenv("SORTKEY_CHECKS"), 64); err == nil {
		return max(1, int(float64(n)*x))
	}
	if testing.Short() || !Long() {
		return (n + 19) / 20
	}
	return n
}

// Long reports whether to run the tests that take long.
func Long() bool { return os.Getenv("SORTKEY_LONG") != "" }

// NeedLong skips a test unless SORTKEY_LONG is set, as .ci/run does. It is for tests that always take long.
func NeedLong(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("takes long; set SORTKEY_LONG=1 to run it")
	}
}

// SkipShort skips a test with -short, which the run with the race detector sets. Use it for tests that take seconds
// with the race detector but have only one goroutine, so that they have no races.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine, without -short")
	}
}

// Parameters returns gopter's parameters for a property with n cases in a long run; see [Cases].
func Parameters(n int) *gopter.TestParameters {
	p := gopter.DefaultTestParametersWithSeed(Seed())
	p.MinSuccessfulTests = Cases(n)
	return p
}

// Check runs a property on random cases, n in a long run; see [Cases]. If a case fails, Check shrinks it and fails
// the test with its report.
func Check(t *testing.T, n int, property func(*T)) {
	t.Helper()
	CheckTapes(t, n, 1, 4096, func(tape []byte) string { return Play(t, tape, property) }, nil)
}

// Fuzz runs a property as a native fuzz target, with the fuzz input as the tape.
func Fuzz(f *testing.F, property func(*T)) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, tape []byte) {
		if report := Play(t, tape, property); report != "" {
			t.Fatal(report)
		}
	})
}

// CheckTapes runs a property on random tapes of least to most bytes, n in a long run; see [Cases]. The property
// returns "" or an error message. If it fails, CheckTapes calls failed, unless that is nil, with the shrunk tape.
func CheckTapes(t *testing.T, n, least, most int, property func(tape []byte) string, failed func(tape []byte)) {
	t.Helper()
	params := Parameters(n)
	params.SetSeed(Seed() + int64(crc32.ChecksumIEEE([]byte(t.Name())))) // so that each property gets other tapes
	p, wait := gopter.NewProperties(params), new(shrinkLimit)
	holds := func(c choices) string { return wait.note(property(c)) }
	p.Property(t.Name(), prop.ForAll(holds, generate(least, most, wait)))
	p.Run(reporter{t, failed})
}

// Play runs a property on one tape. It returns the report if the property fails, or "".
func Play(t testing.TB, tape []byte, property func(*T)) (report string) {
	return PlayOn(t, tape, nil, property)
}

// PlayOn is like Play, but after the end of the tape it takes choices from more.
func PlayOn(t testing.TB, tape []byte, more io.Reader, property func(*T)) (report string) {
	c := &T{tb: t, tape: tape, more: more}
	defer func() {
		c.cleanup()
		switch e := recover().(type) {
		case nil:
		case stop:
		default:
			c.Errorf("panic: %v\n%s", e, debug.Stack())
		}
		if c.failed {
			report = cmp.Or(strings.Join(c.lines, "\n"), "failed")
		}
	}()
	property(c)
	return ""
}

// stop is the panic value that ends a failed case.
type stop struct{}

// A T is one case of a property.
type T struct {
	tb       testing.TB
	tape     []byte
	more     io.Reader // source of choices after the end of the tape; nil yields zeros
	lines    []string
	failed   bool
	cleanups []func()
}

// choices is a tape. In gopter's reports it prints only its length.
type choices []byte

func (c choices) String() string { return fmt.Sprintf("%d bytes of choices", len(c)) }

// read fills b with choices.
func (t *T) read(b []byte) {
	if len(t.tape) < len(b) && t.more != nil {
		_, _ = io.ReadFull(t.more, b)
	}
	t.tape = t.tape[copy(b, t.tape):]
}

// IntN returns a number in [0, n). Let smaller numbers lead to simpler cases, because shrinking makes numbers
// smaller.
func (t *T) IntN(n int) int {
	var scratch [4]byte
	width := 1
	if n > 256 {
		width = 4
	}
	t.read(scratch[:width])
	if width == 1 {
		return int(scratch[0]) % n
	}
	return int(binary.LittleEndian.Uint32(scratch[:]) % uint32(n))
}

// Between returns a number in [lo, hi].
func (t *T) Between(lo, hi int) int { return lo + t.IntN(hi-lo+1) }

// Bool returns false or true.
func (t *T) Bool() bool { return t.IntN(2) == 1 }

// Often returns true in pct percent of cases.
func (t *T) Often(pct int) bool { return t.IntN(100) >= 100-pct }

// Uint64 returns any number.
func (t *T) Uint64() uint64 {
	var scratch [8]byte
	t.read(scratch[:])
	return binary.LittleEndian.Uint64(scratch[:])
}

// Text returns a text of lo to hi characters of an alphabet.
func (t *T) Text(alphabet string, lo, hi int) string {
	letters := []rune(alphabet)
	var b strings.Builder
	for range t.Between(lo, hi) {
		b.WriteRune(letters[t.IntN(len(letters))])
	}
	return b.String()
}

// AnyText returns a text of lo to hi characters of all kinds. Half of them are characters that often cause bugs.
func (t *T) AnyText(lo, hi int) string {
	var b strings.Builder
	for range t.Between(lo, hi) {
		if !t.Bool() {
			b.WriteRune(Pick(t, careful...))
			continue
		}
		table := Pick(t, characters...)
		if i := t.IntN(len(table.R16) + len(table.R32)); i < len(table.R16) {
			r := table.R16[i]
			b.WriteRune(rune(r.Lo) + rune(r.Stride)*rune(t.IntN(int((r.Hi-r.Lo)/r.Stride)+1)))
		} else {
			r := table.R32[i-len(table.R16)]
			b.WriteRune(rune(r.Lo) + rune(r.Stride)*rune(t.IntN(int((r.Hi-r.Lo)/r.Stride)+1)))
		}
	}
	return b.String()
}

var (
	careful = []rune("Aa?~!@#$%^&*_-+=.,:; \t\r\n/\\|([{<'\"`\x00\v\x1b\x7f\ufeff\ufffd\u202eȺ")
	// characters are all characters except surrogates, which UTF-8 cannot encode.
	characters = []*unicode.RangeTable{
		unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nd, unicode.Nl, unicode.No, unicode.P,
		unicode.Sm, unicode.Sc, unicode.Sk, unicode.So, unicode.Mn, unicode.Me, unicode.Mc, unicode.Z, unicode.Cc,
		unicode.Cf, unicode.Co,
	}
)

// Number returns a decimal number of up to 38 digits, in the whole range that the service supports.
func Number(t *T) string {
	return fmt.Sprintf("%s%sE%d", Pick(t, "", "-"), t.Text("0123456789", 1, 38), t.Between(-130, 87))
}

// Bytes returns lo to hi random bytes.
func (t *T) Bytes(lo, hi int) []byte {
	b := make([]byte, t.Between(lo, hi))
	t.read(b)
	return b
}

// Pick returns one element of a list.
func Pick[E any](t *T, list ...E) E { return list[t.IntN(len(list))] }

// Shuffle returns a list in random order.
func Shuffle[E any](t *T, list []E) []E {
	out := slices.Clone(list)
	for i := len(out) - 1; i > 0; i-- {
		j := i - t.IntN(i+1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// SliceOf returns a slice of lo to hi elements.
func SliceOf[E any](t *T, lo, hi int, element func(*T) E) []E {
	list := make([]E, t.Between(lo, hi))
	for i := range list {
		list[i] = element(t)
	}
	return list
}

// Repeat runs at most the given number of steps. Each step runs one of the actions and then check. Repeat stops at
// the end of the tape, after which all steps would be the same.
func (t *T) Repeat(steps int, check func(), actions ...func()) {
	for range t.Between(1, steps) {
		actions[t.IntN(len(actions))]()
		check()
		if len(t.tape) == 0 && t.more == nil {
			return
		}
	}
}

// Helper does nothing, because reports have no line numbers.
func (*T) Helper() {}

// Errorf reports a failure and continues.
func (t *T) Errorf(format string, args ...any) {
	t.failed = true
	t.Logf(format, args...)
}

// Fatalf reports a failure and ends the case.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	t.FailNow()
}

// Logf adds a line to the report, which is printed if the case fails.
func (t *T) Logf(format string, args ...any) { t.lines = append(t.lines, fmt.Sprintf(format, args...)) }

// FailNow marks the case as failed and ends it.
func (t *T) FailNow() {
	t.failed = true
	panic(stop{})
}

// Failed reports whether the case has failed.
func (t *T) Failed() bool { return t.failed }

// Cleanup calls f when the case ends.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// TempDir returns a folder that is removed when the case ends.
func (t *T) TempDir() string {
	dir, err := os.MkdirTemp("", "proptest")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TB returns the test that the case belongs to, for helpers that need one.
// Failures reported to it are not shrunk.
func (t *T) TB() testing.TB { return t.tb }

func (t *T) cleanup() {
	for len(t.cleanups) > 0 {
		last := len(t.cleanups) - 1
		f := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		f()
	}
}

// A reporter reports gopter's results to a test.
type reporter struct {
	*testing.T
	failed func(tape []byte)
}

// ReportTestResult implements [gopter.Reporter].
func (r reporter) ReportTestResult(_ string, result *gopter.TestResult) {
	if result.Passed() {
		return
	}
	report := strings.Join(result.Labels, "\n")
	if result.Error != nil {
		report = fmt.Sprintf("%v\n%s", result.Error, result.ErrorStack)
	}
	r.Errorf("false after %d cases; to repeat them, set SORTKEY_SEED=%d\n%s", result.Succeeded, Seed(), report)
	for _, arg := range result.Args {
		if tape, ok := arg.Arg.(choices); ok && r.failed != nil {
			r.failed(tape)
		}
	}
}

// A shrinkLimit ends shrinking a fixed time after the first failure.
type shrinkLimit struct{ failed time.Time }

// note records the time of the first call with a report other than "". It returns report.
func (p *shrinkLimit) note(report string) string {
	if report != "" && p.failed.IsZero() {
		p.failed = time.Now()
	}
	return report
}

func (p *shrinkLimit) over() bool { return !p.failed.IsZero() && time.Since(p.failed) > 15*time.Second }

// generate generates tapes.
func generate(least, most int, p *shrinkLimit) gopter.Gen {
	shrinker := func(v any) gopter.Shrink { return shrink(v.(choices), p) }
	return func(params *gopter.GenParameters) *gopter.GenResult {
		c := make(choices, least+params.Rng.Intn(most-least+1))
		params.Rng.Read(c)
		return gopter.NewGenResult(c, shrinker)
	}
}

// shrink returns a sequence of smaller tapes. For each length of parts, from half of the tape down, it first removes
// one part at a time, and then sets one part at a time to zeros.
func shrink(c choices, p *shrinkLimit) gopter.Shrink {
	step := len(c) / 2
	at, zero := 0, false
	return func() (any, bool) {
		for step > 0 && !p.over() {
			if at >= len(c) {
				if at = 0; zero {
					step /= 2
				}
				zero = !zero
				continue
			}

			end := min(at+step, len(c))
			out := append(choices{}, c...)
			if zero {
				clear(out[at:end])
			} else {
				out = append(out[:at], out[end:]...)
			}

			at = end
			if zero && string(out) == string(c) {
				continue
			}
			return out, true
		}
		return nil, false
	}
}
