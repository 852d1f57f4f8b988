package app

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/model"
)

// OneModel checks the arguments of a command that takes one model.
func OneModel(cmd *cobra.Command, args []string) error {
	name := cmd.Parent().Name() + " " + cmd.Name()
	switch len(args) {
	case 0:
		return Usage(name, "%s needs a model file or the name of an example", name)
	case 1:
		return nil
	}
	return Usage(name, "%s takes one model, not %d", name, len(args))
}

// Models completes an argument that is the name of an example or a model file.
func Models(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if names := WithPrefix(examples.Names(), toComplete); len(names) > 0 && toComplete != "" {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// ModelNames completes a flag that names an example or any file.
func ModelNames(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return WithPrefix(examples.Names(), toComplete), cobra.ShellCompDirectiveDefault
}

// LoadModel returns the example called name, or the model at the path name, which is a file or a folder with a
// model.yaml.
func LoadModel(name string) (*model.Model, error) {
	m, err := models.Find(name)
	if errors.Is(err, models.ErrNotFound) {
		return nil, &advice.Error{
			Msg: "no model " + name,
			Advice: "the examples are " + strings.Join(examples.Names(), ", ") +
				"; write a first model with: sortkey design new FILE",
			Err: err,
		}
	}
	if list, ok := errors.AsType[model.Errors](err); ok {
		if _, explained := errors.AsType[*advice.Error](err); !explained {
			return nil, ModelErrors(name, list)
		}
	}
	return m, err
}
