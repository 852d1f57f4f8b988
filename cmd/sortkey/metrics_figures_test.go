package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/postgres"
)

// numbered returns statistics whose fields are 1, 2 and so on.
func numbered[S any]() (s S) {
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(reflect.ValueOf(i + 1).Convert(v.Field(i).Type()))
	}
	return s
}

// checkFigures tests that each figure is the value of its field, and that no two figures have the same field.
func checkFigures[S any](t *testing.T, all []metrics.Figure) {
	var want strings.Builder
	seen := map[string]bool{}
	for _, f := range all {
		field, ok := reflect.TypeFor[S]().FieldByName(f.Field)
		require.True(t, ok, f.Field)
		require.False(t, seen[f.Field], f.Field)
		seen[f.Field] = true
		kind := map[bool]string{true: "counter", false: "gauge"}[strings.HasSuffix(f.Name, "_total")]
		name := "sortkey_" + f.Name
		fmt.Fprintf(&want, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", name, f.Help, name, kind, name, field.Index[0]+1)
	}
	require.NoError(t, testutil.CollectAndCompare(metrics.Figures(numbered[S], all), strings.NewReader(want.String())))
}

func TestFigures(t *testing.T) {
	checkFigures[disk.Stats](t, metrics.DiskFigures)
	checkFigures[postgres.Stats](t, metrics.PostgresFigures)
	checkFigures[metrics.Connections](t, metrics.ConnectionFigures)
}
