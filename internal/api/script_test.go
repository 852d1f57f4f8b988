package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
)

// TestScripts sends the requests of the scripts in testdata/requests to a service, and checks the responses. A script
// has these commands:
//
//	tables NAME…            opens a new database with some of the tables in scriptTables
//	each NAME…              opens such a database before each of the requests that follow
//	OPERATION [ID…]         sends the input; the ids are those of findings (see [TestFindingsTable]). With times=N, it
//	                        sends N requests, in which «n» is the number of the request
//	sleep DURATION          moves the clock
//	delay DURATION          sets how long changes of tables take from now on
//	random                  makes the ids of backups and jobs random
//	file NAME               writes the input and a line feed to a file in the bucket named "bucket"
//	described NAME MEMBER…  prints members of the description of a table
//
// The expected response to a request is one of
//
//	ok                      any response that is not an error
//	nothing                 an empty response
//	{…}                     members that the response must have; a member that is null must be absent
//	exactly {…}             the whole response
//	EXCEPTION: text         an error; "with {…}" says that it has the item that failed the condition
//	cancelled […]           the error of a cancelled transaction, with these reasons
//
// In requests and responses, «ab×3» stands for ababab, and $Name stands for the last string or number called Name in
// the responses so far.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/requests", func(t *testing.T, path string) {
		s := &script{root: t.TempDir(), seen: map[string]string{}}
		require.NoError(t, os.Mkdir(filepath.Join(s.root, "bucket"), 0o755))
		datadriven.RunTest(t, path, s.run)
	})
}

// scriptTables are the tables that scripts name.
var scriptTables = map[string]string{
	"HHH": tableH, "RRR": tableR, "PPP": tableP, "PPI": tablePI, "MMM": tableM, "NNN": tableN, "VVV": tableV,
}

// A script is what the commands of a file share.
type script struct {
	*endpoint
	root string            // folder of buckets
	each []string          // tables of the database for each request, if not nil
	seen map[string]string // values in responses by name
}

// open opens a new database. Its ids of backups and jobs end with 00000000.
func (s *script) open(t *testing.T, tables []string) string {
	s.endpoint = newEndpoint(t)
	s.svc = api.New(s.db, api.Options{Clock: s.db.Clock, Rand: zeros{}, S3Root: s.root})
	for _, name := range tables {
		s.answer("CreateTable", scriptTables[name])
	}
	return ""
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.Key)
	}
	times := 1
	d.MaybeScanArgs(t, "times", &times)
	if s.endpoint != nil {
		s.t = t
	}
	input, expected := s.fill(d.Input), strings.TrimSpace(d.Expected)
	switch d.Cmd {
	case "tables":
		s.each = nil
		return s.open(t, args)
	case "each":
		s.each = append([]string{}, args...)
		return ""
	case "sleep", "delay":
		by, err := time.ParseDuration(args[0])
		require.NoError(t, err)
		if d.Cmd == "sleep" {
			s.sleep(by)
		} else {
			s.db.Delay = by
		}
		return ""
	case "random":
		s.svc = api.New(s.db, api.Options{Clock: s.db.Clock})
		return ""
	case "file":
		path := filepath.Join(s.root, "bucket", args[0])
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(input+"\n"), 0o600))
		return ""
	case "described":
		if got := s.described(args[0], args[1:]...); !sameJSON(t, got, expected) {
			return got
		}
		return d.Expected
	}

	if s.each != nil {
		s.open(t, s.each)
	}
	for n := range times {
		if got := s.request(d.Cmd, strings.ReplaceAll(input, "«n»", strconv.Itoa(n)), expected); got != expected {
			return got
		}
	}
	return d.Expected
}

// request sends a request. It returns expected if the response is as expected, and otherwise the response.
func (s *script) request(operation, body, expected string) string {
	if reasons, ok := strings.CutPrefix(expected, "cancelled "); ok {
		s.cancelled(operation, body, reasons)
		return expected
	}
	out, status := s.serve(operation, body)
	if status != 200 {
		got := fault(out)
		if _, item, ok := strings.Cut(out, `,"Item":`); ok {
			got += ", with " + strings.TrimSuffix(item, "}")
		}
		if got != s.fill(expected) {
			return got
		}
		return expected
	}
	remember(out, s.seen)
	want := s.fill(expected)
	whole, exact := strings.CutPrefix(want, "exactly ")
	switch {
	case want == "ok", want == "nothing" && out == "", exact && sameJSON(s.t, out, whole):
		return expected
	case strings.HasPrefix(want, "{"):
		var has, wants any
		require.NoError(s.t, json.Unmarshal([]byte(out), &has), out)
		require.NoError(s.t, json.Unmarshal([]byte(want), &wants), want)
		why := lacks(has, wants)
		if why == "" {
			return expected
		}
		s.t.Log(why)
	}
	return out
}

var (
	repeated = regexp.MustCompile(`«([^»]*)×(\d+)»`)
	named    = regexp.MustCompile(`\$[A-Za-z]+`)
	members  = regexp.MustCompile(`"([A-Za-z]+)":(?:"([^"]*)"|([0-9.eE+]+))`)
)

// fill replaces the abbreviations in a request or response.
func (s *script) fill(text string) string {
	text = repeated.ReplaceAllStringFunc(text, func(m string) string {
		parts := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
	return named.ReplaceAllStringFunc(text, func(name string) string {
		if v, ok := s.seen[name[1:]]; ok {
			return v
		}
		return name
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// remember stores the strings and numbers of a response in seen, by name.
func remember(out string, seen map[string]string) {
	for _, m := range members.FindAllStringSubmatch(out, -1) {
		seen[m[1]] = m[2] + m[3]
	}
}

// lacks returns what got lacks that want has, or "". Lists must have the same length.
func lacks(got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		for name, v := range w {
			x, ok := g[name]
			if v == nil && ok {
				return fmt.Sprintf("%s is %v, want none", name, x)
			}
			if v != nil && !ok {
				return name + " is missing"
			}
			if why := lacks(x, v); why != "" {
				return name + ": " + why
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
		for i := range w {
			if why := lacks(g[i], w[i]); why != "" {
				return fmt.Sprintf("%d: %s", i, why)
			}
		}
	default:
		if got != want {
			return fmt.Sprintf("got %v, want %v", got, want)
		}
	}
	return ""
}
