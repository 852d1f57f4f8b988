package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// maskUsage is the help text of the flag that names a file of masking rules.
const maskUsage = "`FILE` of rules by which values are replaced by stand-ins"

// readMask reads a file of masking rules. If the rules name a model by a relative path, readMask looks for the model
// in the folder of the file, and then in the current folder or among the examples.
func readMask(file string) (*mask.Rules, error) {
	src, err := files.Read(file, 1<<20)
	if err != nil {
		return nil, err
	}
	rules, err := mask.Parse(src, func(name string) (*model.Model, error) {
		if beside := filepath.Join(filepath.Dir(file), name); !filepath.IsAbs(name) && exists(beside) {
			name = beside
		}
		return app.LoadModel(name)
	})
	if err != nil {
		return nil, &advice.Error{
			Msg:    file + ": " + err.Error(),
			Advice: "docs/operations.md describes the file",
			Err:    err,
		}
	}
	return rules, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// covered returns an error if the data contains attributes that no masking rule covers, and lists them on standard
// error.
func covered(env *app.Env, rules *mask.Rules, file string) error {
	all, more := rules.Uncovered()
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(env.Stderr, "not masked, as no rule covers it (as: keep says that it is right):")
	for _, u := range all {
		fmt.Fprintf(env.Stderr, "  %s\n", text.Visible(u))
	}
	if more {
		fmt.Fprintln(env.Stderr, "  and more")
	}
	return advice.New(
		"add a rule for each of them (as: keep says that it is right)",
		"nothing was written: no rule of %s covers some of the data", file,
	)
}
