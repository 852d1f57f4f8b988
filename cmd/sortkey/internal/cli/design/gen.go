package design

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/model"
)

func genCommand(env *app.Env) *cobra.Command {
	var lang string
	var out outFlags
	cmd := &cobra.Command{
		Use:   "gen MODEL",
		Short: "Write functions for the keys and patterns of a model",
		Long: `Gen writes a file in Go, Python or TypeScript with a type for the values in the keys of
each entity, which makes its primary key and all its key attributes, and with a function
for each access pattern that reads, which returns its request. On standard error, and at
the end of the file, it says which patterns have no function and why.

Go needs package keys and the AWS SDK for Go v2, Python the package sortkey-keys, and
TypeScript @sortkey/keys and @aws-sdk/client-dynamodb. All three make the same keys, and
refuse values that would break one with the same words. Items are in DynamoDB JSON, whose
numbers are texts, so no digit is lost.`,
		Example: `  sortkey design gen shop.yaml -o keys/keys.go
  sortkey design gen shop.yaml --lang python -o shop_keys.py
  sortkey design gen shop.yaml --lang typescript -o shopKeys.ts`,
		Args:              app.OneModel,
		ValidArgsFunction: app.Models,
		RunE: func(_ *cobra.Command, args []string) error {
			write := generators[lang]
			if write == nil {
				return app.Usage("design gen", "--lang is one of %s, not %q", strings.Join(genLanguages(), ", "), lang)
			}
			m, err := app.LoadModel(args[0])
			if err != nil {
				return err
			}
			code, err := write(m)
			if err != nil {
				return err
			}
			if err := out.write(env, code); err != nil {
				return err
			}
			for _, reason := range gen.Missing(m) {
				fmt.Fprintln(env.Stderr, reason)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&lang, "lang", "l", "go", "`LANGUAGE`: "+strings.Join(genLanguages(), ", "))
	out.declare(cmd, "output `FILE`")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"lang": app.Words(genLanguages()...)})
	return cmd
}

// generators are the functions that write the code in each language.
var generators = map[string]func(*model.Model) ([]byte, error){
	"go": gen.Go, "python": gen.Python, "typescript": gen.TypeScript,
}

func genLanguages() []string { return slices.Sorted(maps.Keys(generators)) }
