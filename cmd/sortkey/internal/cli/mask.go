package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/mask"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A maskFlag names a file of rules by which items are masked.
type maskFlag struct {
	file    string
	partial bool
	dryRun  bool
}

func (f *maskFlag) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "mask", "", "`FILE` of rules by which values are replaced by stand-ins")
	flags.BoolVar(&f.partial, "mask-partial", false, "write what no rule of --mask covers as it is")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list what no rule of --mask covers, and write nothing")
}

// A maskFunc returns what to write in place of an item of a table.
type maskFunc = func(table string, it attr.Item) (attr.Item, error)

// check reads everything with pass, which writes nothing, and fails if no rule covers some of it. It returns
// the function that masks what is written.
func (f *maskFlag) check(env *app.Env, rules *mask.Rules, pass func(maskFunc) error) (maskFunc, error) {
	if f.partial && !f.dryRun {
		return rules.Item, nil
	}
	if err := pass(rules.Item); err != nil {
		return nil, err
	}

	out := env.Stderr
	if f.dryRun {
		out = env.Stdout
	}
	listed := printUncovered(out, rules)
	switch {
	case listed && !f.partial:
		return nil, advice.New(
			"add a rule for each of them (as: keep says that it is right), or give --mask-partial",
			"nothing was written: no rule of %s covers some of the data", f.file,
		)
	case f.dryRun && !listed:
		fmt.Fprintln(out, "the rules cover everything")
	}
	return rules.Covered, nil
}

// read returns the rules and a digest of them, or nil without the flag. A model that they name is beside
// the file, or an example.
func (f *maskFlag) read() (*mask.Rules, string, error) {
	switch {
	case f.file == "" && f.partial:
		return nil, "", app.Usage("", "--mask-partial needs --mask FILE")
	case f.file == "" && f.dryRun:
		return nil, "", app.Usage("", "--dry-run needs --mask FILE")
	case f.file == "":
		return nil, "", nil
	}
	src, err := files.Read(f.file, 1<<20)
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

// printUncovered lists what no rule covers, and reports whether there was something.
func printUncovered(w io.Writer, rules *mask.Rules) bool {
	all, more := rules.Uncovered()
	if len(all) == 0 {
		return false
	}
	fmt.Fprintln(w, "not masked, as no rule covers it (as: keep says that it is right):")
	for _, u := range all {
		fmt.Fprintf(w, "  %s\n", text.Visible(u.String()))
	}
	if more {
		fmt.Fprintln(w, "  and more")
	}
	return true
}
