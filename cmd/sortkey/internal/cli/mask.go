package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A maskFlag names a file of rules by which items are masked.
type maskFlag struct{ file string }

func (f *maskFlag) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "mask", "", "`FILE` of rules by which values are replaced by stand-ins")
}

// read returns the rules and a digest of them, or nil without the flag. A model that they name is beside
// the file, or an example.
func (f *maskFlag) read() (*mask.Rules, string, error) {
	if f.file == "" {
		return nil, "", nil
	}
	src, err := os.ReadFile(f.file)
	if err != nil {
		return nil, "", err
	}
	rules, err := mask.Parse(src, func(name string) (*model.Model, error) {
		if beside := filepath.Join(filepath.Dir(f.file), name); !filepath.IsAbs(name) && exists(beside) {
			name = beside
		}
		return app.LoadModel(name)
	})
	if err != nil {
		return nil, "", &advice.Error{
			Msg:    f.file + ": " + err.Error(),
			Advice: "docs/operations.md describes the file",
			Err:    err,
		}
	}
	sum := sha256.Sum256(src)
	return rules, hex.EncodeToString(sum[:8]), nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// printUncovered lists what no rule covered.
func printUncovered(env *app.Env, rules *mask.Rules) {
	all := rules.Uncovered()
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(env.Stderr, "not masked, as no rule covers it (as: keep says that it is right):")
	for _, u := range all {
		fmt.Fprintf(env.Stderr, "  %s %s\n", u.Of, u.Path)
	}
}
