package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func load(t *testing.T, name string) *model.Model {
	t.Helper()
	m, err := modelfile.Load(filepath.Join("../modelfile/testdata", name))
	require.NoError(t, err)
	return m
}

func TestBuild(t *testing.T) {
	m := load(t, "shop.yaml")
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	require.Equal(t, 4+1+500+2000, len(w.Items))
	require.InDelta(t, 1, w.Scale, 0)
	for _, it := range w.Items {
		if got := m.Classify(it.Table, it.Attributes); got != it.Entity {
			t.Fatalf("Classify(%s) = %v, want %v", it.Attributes.AppendJSON(nil), got, it.Entity)
		}
	}
	customers := map[string]bool{}
	for _, it := range w.Items {
		if it.Entity != nil && it.Entity.Name == "Customer" {
			customers[it.Values.Get("customerId")] = true
		}
	}
	for _, it := range w.Items {
		if it.Entity != nil && !customers[it.Values.Get("customerId")] {
			t.Fatalf("customer %s of %s does not exist", it.Values.Get("customerId"), it.Entity.Name)
		}
	}
}

func TestLoad(t *testing.T) {
	_, err := modelfile.Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = modelfile.Parse("m.yaml", []byte(strings.Repeat("[", 5000)))
	_, ok := errors.AsType[model.Errors](err)
	require.True(t, ok, "%v", err)
}

func TestBuildEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	_, err := dataset.Build(ctx, load(t, "shop.yaml"), dataset.Options{})
	require.ErrorIs(t, err, stop)
}

func TestFieldsOf(t *testing.T) {
	m := load(t, "shop.yaml")
	e := m.Entity("Order")
	it, err := e.Item(e.Samples[0].Values)
	require.NoError(t, err)
	got := e.FieldsOf(it)
	for _, name := range []string{"customerId", "placed", "orderId", "status", "total"} {
		require.Equal(t, e.Samples[0].Values[name], got[name], name)
	}
	_, err = e.Item(map[string]string{"customerId": "7"})
	require.ErrorContains(t, err, "key attribute SK needs a value for placed")
}
