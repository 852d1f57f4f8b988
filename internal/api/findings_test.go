package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
)

// A finding is a request that ack-api-quirks reports (see [TestFidelity]), and the response of the service.
type finding struct {
	ids      string // of the findings, such as "TABLE-105 TABLE-442"
	op, body string
	// want is as for [endpoint.witness], or JSON with members that the response must have; a member that is null must
	// be absent. $Name stands for the last string or number called Name in the responses so far.
	want string
}

// nothingAsked is the text for an UpdateTable that asks for no change.
const nothingAsked = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
	"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, " +
	"MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"

// unrandom makes the ids of backups and jobs predictable: they end with 00000000.
func (e *endpoint) unrandom() *endpoint {
	e.svc = api.New(e.db, api.Options{Clock: e.db.Clock, Rand: zeros{}})
	return e
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// findings sends the requests in order and checks the responses.
func (e *endpoint) findings(list []finding) {
	e.t.Helper()
	seen := map[string]string{}
	named := regexp.MustCompile(`\$[A-Za-z]+`)
	fill := func(s string) string {
		return named.ReplaceAllStringFunc(s, func(name string) string {
			if v, ok := seen[name[1:]]; ok {
				return v
			}
			return name
		})
	}
	for _, f := range list {
		e.t.Run(f.ids+" "+f.op, func(t *testing.T) {
			outer := e.t
			e.t = t
			defer func() { e.t = outer }()
			switch {
			case f.op == "sleep":
				d, err := time.ParseDuration(f.body)
				if err != nil {
					t.Fatal(err)
				}
				e.sleep(d)
			case !strings.HasPrefix(f.want, "{"):
				if f.want == "" {
					remember(e.answer(f.op, fill(f.body)), seen)
					return
				}
				e.witness(f.op, fill(f.body), fill(f.want))
			default:
				out := e.answer(f.op, fill(f.body))
				remember(out, seen)
				var got, want any
				if json.Unmarshal([]byte(out), &got) != nil || json.Unmarshal([]byte(fill(f.want)), &want) != nil {
					t.Fatal(out, fill(f.want))
				}
				if why := lacks(got, want); why != "" {
					t.Errorf("%s %s: %s\n got %s", f.op, fill(f.body), why, short(out))
				}
			}
		})
	}
}

// remember stores the strings and numbers of a response in seen, by name.
func remember(out string, seen map[string]string) {
	for _, m := range regexp.MustCompile(`"([A-Za-z]+)":(?:"([^"]*)"|([0-9.eE+]+))`).FindAllStringSubmatch(out, -1) {
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

// TestFindingsTable counts the findings of ack-api-quirks (services/dynamodb, 2026-10-09) by verdict; with -v it
// prints the numbers. A request in these tests must cite each finding whose verdict is not "left out".
func TestFindingsTable(t *testing.T) {
	data, err := os.ReadFile("testdata/findings.tsv")
	require.NoError(t, err)
	verdicts, left, counts := map[string]string{}, map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Equal(t, f[1] == "left out", len(f) == 3, "what is left out has a reason: %s", line)
		require.Contains(t, []string{"equal", "mended", "left out"}, f[1])
		require.NotContains(t, verdicts, f[0])
		verdicts[f[0]] = f[1]
		counts[f[1]]++
		if len(f) == 3 {
			left[f[2]]++
		}
	}
	require.Len(t, verdicts, 548)

	tests, err := filepath.Glob("findings*_test.go")
	require.NoError(t, err)
	cited := map[string]bool{}
	for _, name := range tests {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, id := range regexp.MustCompile(`\b[A-Z]+-[0-9]{3}\b`).FindAllString(string(source), -1) {
			require.Contains(t, verdicts, "DDB-"+id, name)
			cited["DDB-"+id] = true
		}
	}
	var uncited []string
	for _, id := range slices.Sorted(maps.Keys(verdicts)) {
		if verdicts[id] != "left out" && !cited[id] {
			uncited = append(uncited, id)
		}
	}
	require.Empty(t, uncited, "findings that no request cites")

	t.Logf("%d equal, %d mended, %d left out", counts["equal"], counts["mended"], counts["left out"])
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		t.Logf("left out: %3d %s", left[reason], reason)
	}
}
