package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// DefinitionFlags are the flags of commands that read definitions of tables.
type DefinitionFlags struct{ parameters []string }

// Declare adds the flags to a command.
func (f *DefinitionFlags) Declare(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(
		&f.parameters, "parameter", "P", nil,
		"value of a parameter or variable of a template (`NAME=VALUE`); repeatable",
	)
}

// Reader returns a reader of templates with the parameters of the flags.
func (f *DefinitionFlags) Reader() (tabledef.Reader, error) {
	r := tabledef.Reader{Parameters: tabledef.Parameters{}, Flag: "-P "}
	for _, p := range f.parameters {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return r, UsageError("write it as in -P Stage=test", "-P: parameter %q has no value", p)
		}
		r.Parameters[name] = value
	}
	return r, nil
}
