package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

// addDesigns adds the tools about models.
func (s *Server) addDesigns() {
	add(s, newTool, s.designNew)
	add(s, checkTool, s.designCheck)
	add(s, designDiffTool, s.designDiff)
	add(s, loadTool, s.designLoad)
}

type newArgs struct {
	File    string `json:"file,omitempty" jsonschema:"file to write, in .yaml, .yml or .json; default none"`
	Content string `json:"content,omitempty" jsonschema:"model to write; default one whose comments explain the format"`

	Overwrite bool `json:"overwrite,omitempty" jsonschema:"replace a model that is there"`
}

var newTool = tool{name: "design_new", title: "Write a model file", effect: changes, description: `
Writes a model file: a design of keys with its tables, indexes, entities with templates of their keys, and the
access patterns with what each may cost. Without arguments it writes nothing and returns a first model with
comments that explain the format: read that before you write a model. With file it writes the first model, or
content, to that file. Content with errors is not written; the answer says what is wrong with it and where.
Examples: {} and {"file": "shop.yaml", "content": "name: shop\ntables: …"}`}

func (s *Server) designNew(_ context.Context, in newArgs) (string, error) {
	content := []byte(in.Content)
	if in.Content == "" {
		content = modelfile.Starter()
	}
	if in.File == "" {
		if in.Content != "" {
			return "", advice.New("give a file to write, or use design_check", "design_new has content and no file")
		}
		return s.report(string(content), 0), nil
	}

	switch filepath.Ext(in.File) {
	case ".yaml", ".yml", ".json":
	default:
		return "", advice.New("name it as in shop.yaml", "%s is no name of a model file", text.Quote(in.File))
	}

	if _, err := modelfile.Parse(in.File, content); err != nil {
		e := s.o.Explain(err)
		return "", &advice.Error{Msg: "nothing is written: " + e.Msg, Advice: e.Advice, Err: err}
	}
	if in.Overwrite {
		// Only a model is replaced by one, so that a slip cannot cost another file.
		old, err := s.readFile(in.File)
		if err == nil {
			if _, err := modelfile.Parse(in.File, old); err != nil {
				return "", advice.New(
					"write another file", "nothing is written: %s is there, and not a valid model", text.Quote(in.File),
				)
			}
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}

	if err := s.writeFile(in.File, content, in.Overwrite); err != nil {
		return "", err
	}
	if in.Content == "" { // its first line names the schema, for editors
		schema := filepath.Join(filepath.Dir(filepath.FromSlash(in.File)), "model.schema.json")
		if err := s.writeFile(schema, modelfile.Schema(), false); err != nil && !errors.Is(err, os.ErrExist) {
			return "", err
		}
	}
	return fmt.Sprintf("wrote %s, %s; design_check checks it\n", in.File, text.Size(len(content))), nil
}

// model returns the model in a file of the folder, the example with a name, or a content.
func (s *Server) model(name, content string) (*model.Model, error) {
	switch {
	case name == "" && content == "":
		return nil, advice.New("give the path of a model file, or the name of an example", "there is no model to read")
	case name != "" && content != "":
		return nil, advice.New("give model or content, not both", "there are two models")
	case content != "":
		return modelfile.Parse("content", []byte(content))
	case slices.Contains(examples.Names(), name):
		return models.Example(name)
	}
	if s.o.Folder != nil {
		if info, err := s.o.Folder.Stat(filepath.FromSlash(name)); err == nil && info.IsDir() {
			name = filepath.ToSlash(filepath.Join(name, "model.yaml"))
		}
	}
	data, err := s.readFile(name)
	if err != nil {
		help := advice.Of(err) + "; the examples are " + strings.Join(examples.Names(), ", ")
		return nil, &advice.Error{Msg: err.Error(), Advice: help, Err: err}
	}
	return modelfile.Parse(name, data)
}

type checkArgs struct {
	Model   string `json:"model,omitempty" jsonschema:"model file in the working folder, or the name of an example"`
	Content string `json:"content,omitempty" jsonschema:"text of a model instead of a file"`
	Quiet   bool   `json:"quiet,omitempty" jsonschema:"leave out patterns that meet their expectations, and tables"`
	Skip    int    `json:"skip,omitempty" jsonschema:"leave out so many lines, to go on after a cut"`
}

var checkTool = tool{name: "design_check", title: "Check a model", description: `
Checks a design of keys: makes the items that a model file declares, in memory and apart from the database of
the other tools, runs every access pattern on them, compares rows, units and waste with what the model expects,
and looks for hazards such as hot partitions, keys in the wrong order and indexes that no pattern reads. Use it
after each change of a model. The answer is text: each pattern with its request, slice and cost, the tables, the
findings with what to do, and a summary; with the money a month if the model declares rates.
Examples: {"model": "shop.yaml", "quiet": true} and {"model": "file-tree"} (an example)`}

func (s *Server) designCheck(ctx context.Context, in checkArgs) (string, error) {
	m, err := s.model(in.Model, in.Content)
	if err != nil {
		return "", err
	}
	side, err := s.checked(ctx, m)
	if err != nil {
		return "", err
	}
	defer side.World.Close()
	var b strings.Builder
	if err := side.Result.WriteText(&b, check.TextOptions{Width: prose, Quiet: in.Quiet}); err != nil {
		return "", err
	}
	if side.Bill.Declared() {
		fmt.Fprintf(&b, "\n%s\n", side.Bill)
	}
	return s.report(b.String(), in.Skip), nil
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

type designDiffArgs struct {
	Old string `json:"old" jsonschema:"model file in the working folder, or the name of an example"`
	New string `json:"new" jsonschema:"the other version of it"`
	// Rename answers the questions of a plan.
	Rename diff.Renames `json:"rename,omitempty" jsonschema:"new names by old ones; empty if it is to be deleted"`
	Skip   int          `json:"skip,omitempty" jsonschema:"leave out so many lines, to go on after a cut"`
}

var designDiffTool = tool{name: "design_diff", title: "Compare two models", description: `
Compares two versions of a model: tables, indexes, entities and keys that differ, what each access pattern costs
before and after, the findings that came and went, money, and the steps from one version to the other with the
items, write units and time that they take. Use it to say what a proposed change brings and what it costs. If it
asks what became of an entity or a table, ask the user and answer with rename. The answer is text.
Example: {"old": "shop", "new": "shop-by-price.yaml"}`}

func (s *Server) designDiff(ctx context.Context, in designDiffArgs) (string, error) {
	var both [2]*model.Model
	for i, name := range []string{in.Old, in.New} {
		var err error
		if both[i], err = s.model(name, ""); err != nil {
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
	d, err := diff.Of(ctx, sides[0], sides[1], in.Rename)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := d.WriteText(&b, prose); err != nil {
		return "", err
	}
	return s.report(b.String(), in.Skip), nil
}

type loadArgs struct {
	Model   string `json:"model,omitempty" jsonschema:"model file in the working folder, or the name of an example"`
	Content string `json:"content,omitempty" jsonschema:"text of a model instead of a file"`
	Items   int    `json:"items,omitempty" jsonschema:"generate at most so many items; default 10000"`
}

var loadTool = tool{name: "design_load", title: "Load a model", effect: adds, description: `
Creates the tables of a model with its items, samples and generated ones, where put writes to: so that query and
explain can try its keys. Tables that are there already with other keys are an error, and those with all items
stay as they are. From then on explain takes the names of its access patterns.
Example: {"model": "shop-by-price.yaml"}`}

// loaded is the default number of items that design_load generates.
const loaded = 10_000

func (s *Server) designLoad(ctx context.Context, in loadArgs) (answer string, err error) {
	if s.o.DB == nil {
		return "", advice.New(
			"use design_check, or ask the user to start sortkey mcp without --endpoint",
			"design_load does not create tables on a server",
		)
	}

	m, err := s.model(in.Model, in.Content)
	if err != nil {
		return "", err
	}
	o := world.Options{MaxItems: loaded}
	if in.Items > 0 {
		o.MaxItems = min(in.Items, world.DefaultMaxItems)
	}

	err = s.write(ctx, func(d *side) error {
		l, err := models.Ensure(ctx, d.client, m, o)
		if errors.Is(err, models.ErrOther) {
			return advice.New("rename the table in the model, or discard the fork", "%v", err)
		}
		if err != nil {
			return err
		}
		d.model.Store(m)
		answer = fmt.Sprintf(
			"%s with %s of model %s: call tables to see them\n", text.Count(l.Tables, "table"),
			text.Count(l.Items, "item"), m.Name,
		)
		return nil
	})
	return answer, err
}
