package convert_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func exampleModels(t *testing.T) map[string]*model.Model {
	t.Helper()
	all := map[string]*model.Model{}
	for _, pattern := range []string{
		"../export/testdata/*.yaml", "../../../design/examples/*/model.yaml", "../../../docs/scale/*.yaml",
		"../../../design/designtest/testdata/*.yaml", "../../../cmd/sortkey/testdata/*.yaml",
		"../gen/testdata/*.yaml", "../gen/testdata/store/*.yaml", "../dataset/testdata/*.yaml", "../modelfile/*.yaml",
		"../modelfile/testdata/*.yaml", "../report/testdata/*.yaml", "testdata/golden/*.yaml",
		"../lint/testdata/*/bad.yaml",
		"../lint/testdata/*/good.yaml", // like bad.yaml, but without the hazard
	} {
		if strings.HasPrefix(pattern, "../lint/") && !proptest.Long() {
			continue // small models that are alike
		}
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			m, err := modelfile.Load(path)
			if strings.HasPrefix(path, "../export/testdata/") {
				require.NoError(t, err)
			}
			if err == nil {
				all[strings.TrimPrefix(path, "../")] = m
			}
		}
	}
	least := 24
	if proptest.Long() {
		least = 60
	}
	require.Greater(t, len(all), least)
	return all
}
