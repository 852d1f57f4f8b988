package cli

import (
	"context"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/keyschema"
)

// describe describes a table. If it does not exist, the error lists the tables that do.
func describe(ctx context.Context, src *app.Source, name string) (*keyschema.Table, error) {
	t, err := explain.Describe(ctx, src.Target, name)
	if !operation.Refused(err, "ResourceNotFoundException") {
		return t, err
	}
	names, listErr := models.Tables(ctx, src.Target)
	switch {
	case listErr != nil:
		return nil, err
	case len(names) == 0 && src.Model == nil:
		help := "there are no tables; create this one with sortkey create " + name +
			" 'PARTITION KEY / SORT KEY' and the same flags"
		if src.DB == nil {
			help += ", or load an example with sortkey serve --load file-tree"
		}
		return nil, advice.New(help, "table %s does not exist", name)
	}
	return nil, noTable(name, names)
}

// noTable returns the error for a table that does not exist. It lists names, which are the existing tables.
func noTable(name string, names []string) error {
	if len(names) == 0 {
		return advice.New("", "table %s does not exist; there are no tables", name)
	}
	const most = 10
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return advice.New("the tables are "+strings.Join(names, ", ")+more, "table %s does not exist", name)
}
