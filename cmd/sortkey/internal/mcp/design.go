package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

const whichModel = "model file in the working folder, the name of an example, or the text of a model"

var designCheck = &operation.Operation{
	Name:  "design_check",
	Short: "Check a model",
	Does: `checks a design of keys: makes the items that a model file declares, in memory and apart from the database
of the other tools, runs every access pattern on them, compares rows, units and waste with what the model expects,
and looks for hazards such as hot partitions, keys in the wrong order and indexes that no pattern reads`,
	Tool: operation.Help{
		Lead: "Use it after each change of a model.",
		More: `The answer is text: each pattern with its request, slice and cost, the tables, the findings with what to
do, and a summary; with the money a month if the model declares rates.`,
		Example: `{"model": "shop.yaml", "quiet": true}
{"model": "file-tree"}`,
	},
	Params: []*operation.Param{
		{Name: "model", Help: whichModel, Required: true, To: func(v *operation.Values) any { return &v.Model }},
		{
			Name: "quiet", Kind: operation.Switch, Help: "leave out patterns that meet their expectations, and tables",
			To: func(v *operation.Values) any { return &v.Quiet },
		},
		operation.Skip,
	},
}

var designDiff = &operation.Operation{
	Name:  "design_diff",
	Short: "Compare two models",
	Does: `compares two versions of a model: tables, indexes, entities and keys that differ, what each access pattern
costs before and after, the findings that came and went, money, and the steps from one version to the other with the
items, write units and time that they take`,
	Tool: operation.Help{
		Lead: `Use it to say what a proposed change brings and what it costs. If it asks what became of an entity or a
table, ask the user and answer with rename. The answer is text.`,
		Example: `{"old": "shop", "new": "shop-by-price.yaml"}`,
	},
	Params: []*operation.Param{
		{Name: "old", Help: whichModel, Required: true, To: func(v *operation.Values) any { return &v.Old }},
		{
			Name: "new", Help: "the other version of it", Required: true,
			To: func(v *operation.Values) any { return &v.Model },
		},
		{
			Name: "rename", Kind: operation.Object, Help: "new names by old ones; empty if it is to be deleted",
			To: func(v *operation.Values) any { return &v.Rename },
		},
		operation.Skip,
	},
}

// maxFile is the size of the largest model file, in bytes.
const maxFile = 16 << 20

// model returns the example with a name, the model in a file of the folder, or that of a text of several lines.
func (s *Server) model(name string) (*model.Model, error) {
	if strings.Contains(name, "\n") {
		return modelfile.Parse("model", []byte(name))
	}
	if slices.Contains(examples.Names(), name) {
		return models.Example(name)
	}
	if s.o.Folder == nil {
		return nil, advice.New(
			"ask the user to start sortkey mcp with --dir and the folder of the models",
			"cannot use %s: there is no working folder", text.Quote(name),
		)
	}

	file := filepath.FromSlash(name)
	info, err := s.o.Folder.Stat(file)
	if err == nil && info.IsDir() {
		file = filepath.Join(file, "model.yaml")
		info, err = s.o.Folder.Stat(file)
	}
	var data []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular(): // a pipe would block until somebody writes to it
		err = errors.New("not a regular file")
	case info.Size() > maxFile:
		err = fmt.Errorf("longer than %s", text.Size(maxFile))
	default:
		data, err = s.o.Folder.ReadFile(file)
	}
	if err == nil {
		return modelfile.Parse(name, data)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return nil, advice.New(
		"name a file in the working folder by its path from there, such as models/shop.yaml; the examples are "+
			strings.Join(examples.Names(), ", "),
		"cannot use %s: %v", text.Quote(name), err,
	)
}

func (s *Server) check(ctx context.Context, v *operation.Values) (string, error) {
	m, err := s.model(v.Model)
	if err != nil {
		return "", err
	}
	side, err := s.checked(ctx, m)
	if err != nil {
		return "", err
	}
	defer side.World.Close()
	var b strings.Builder
	if err := report.Text(&b, side.Result, nil, report.TextOptions{Width: prose, Quiet: v.Quiet}); err != nil {
		return "", err
	}
	if side.Bill.Declared() {
		fmt.Fprintf(&b, "\n%s\n", side.Bill)
	}
	return s.report(b.String(), v.Skip), nil
}

// checked returns a model with its world and the result of its check. One is checked at a time, as a world
// takes memory.
func (s *Server) checked(ctx context.Context, m *model.Model) (d diff.Side, err error) {
	select {
	case s.checks <- struct{}{}:
		defer func() { <-s.checks }()
	case <-ctx.Done():
		return d, context.Cause(ctx)
	}
	if d.World, err = world.Build(ctx, m, world.Options{}); err != nil {
		return d, err
	}
	d.Result, err = check.Run(ctx, d.World, check.Options{Lint: lint.Run})
	if err != nil {
		return d, errors.Join(err, d.World.Close())
	}
	d.Bill = bill.Of(d.Result, bill.Known())
	return d, nil
}

func (s *Server) diff(ctx context.Context, v *operation.Values) (string, error) {
	var renames diff.Renames
	if v.Rename != nil {
		if err := json.Unmarshal(v.Rename, &renames); err != nil {
			return "", advice.New("give a name for each", "rename: %v", err)
		}
	}
	var both [2]*model.Model
	for i, name := range []string{v.Old, v.Model} {
		var err error
		if both[i], err = s.model(name); err != nil {
			return "", err
		}
	}
	var sides [2]diff.Side
	for i, m := range both {
		var err error
		if sides[i], err = s.checked(ctx, m); err != nil {
			return "", err
		}
		defer sides[i].World.Close()
	}

	d, err := diff.Of(ctx, sides[0], sides[1], renames)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := d.WriteText(&b, prose); err != nil {
		return "", err
	}
	return s.report(b.String(), v.Skip), nil
}
