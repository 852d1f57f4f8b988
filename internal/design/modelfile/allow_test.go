package modelfile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

const allowing = `name: small
tables:
  Docs: {partition: PK, sort: SK}
entities:
  Version:
    attributes: {PK: "DOC#{doc}", SK: "V#{version:number}"}
allow:
  - {rule: natural-order, on: Version, why: "there are never ten: \"old\" ones go"}
  - {rule: overwrite, why: 7}
`

func TestAllow(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(allowing))
	require.NoError(t, err)
	require.Len(t, m.Allow, 2)
	require.Equal(t, model.Allowance{Pos: model.Pos{File: "m.yaml", Line: 8, Col: 5}, Rule: "natural-order", On: "Version", Why: `there are never ten: "old" ones go`}, *m.Allow[0])

	for _, tt := range []struct {
		f    model.Finding
		want [2]bool
	}{
		{model.Finding{Rule: "natural-order", Entity: "Version"}, [2]bool{true, false}},
		{model.Finding{Rule: "natural-order", Pattern: "Version"}, [2]bool{true, false}},
		{model.Finding{Rule: "natural-order", Entity: "Other"}, [2]bool{}},
		{model.Finding{Rule: "overwrite", Entity: "Other"}, [2]bool{false, true}},
	} {
		if got := [2]bool{m.Allow[0].Accepts(&tt.f), m.Allow[1].Accepts(&tt.f)}; got != tt.want {
			t.Errorf("Accepts(%+v) = %v, want %v", tt.f, got, tt.want)
		}
	}

	var b bytes.Buffer
	require.NoError(t, modelfile.Write(&b, m))
	again, err := modelfile.Parse("m.yaml", b.Bytes())
	require.NoError(t, err, b.String())
	requireSame(t, m, again, b.String())
}

func TestAllowRefuses(t *testing.T) {
	for _, tt := range []struct {
		old, broken, want string
	}{
		{"on: Version", "on: Versions", "did you mean Version?"},
		{"rule: natural-order", "rule: Unpadded", "is not the name of a rule"},
		{"rule: natural-order, ", "", "has no rule"},
		{"why: 7", "on: Docs", "has no reason"},
		{"why: 7", `why: " "`, "has no reason"},
		{"why: 7", "reason: x", "has no member reason"},
	} {
		broken := strings.Replace(allowing, tt.old, tt.broken, 1)
		require.NotEqual(t, allowing, broken)
		_, err := modelfile.Parse("m.yaml", []byte(broken))
		require.ErrorContains(t, err, tt.want)
	}
}
