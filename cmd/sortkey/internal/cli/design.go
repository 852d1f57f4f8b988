package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"regexp"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func (a *App) designCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "design",
		Short: "Work on a key design before its tables exist",
		Long: `Design works on a key design before its tables exist. A model file in YAML
describes the tables, the items and their keys, and the access patterns. All
commands run in memory, offline. MODEL is such a file, a folder with a model.yaml,
or the name of an example.`,
		Example: `  sortkey design new shop.yaml
  sortkey design check shop.yaml
  sortkey design expr shop.yaml 'orders of a customer, newest first' --lang python
  sortkey design gen shop.yaml --package shop -o keys.go`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.designNewCommand(), a.designCheckCommand(), a.designSchemaCommand(), a.designGenCommand(),
		a.designExprCommand(), a.designImportCommand(),
	)
	return cmd
}

// modelsAndFiles completes the names of examples and model files.
func modelsAndFiles(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if names := withPrefix(examples.Names(), toComplete); len(names) > 0 && toComplete != "" {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// oneModel checks the arguments of commands on one model.
func oneModel(cmd *cobra.Command, args []string) error {
	name := cmd.Parent().Name() + " " + cmd.Name()
	switch len(args) {
	case 0:
		return usage(name, "%s needs a model file or the name of an example", name)
	case 1:
		return nil
	}
	return usage(name, "%s takes one model, not %d", name, len(args))
}

// loadModel returns the example with a name, or the model in a file or in the
// model.yaml of a folder.
func loadModel(name string) (*model.Model, error) {
	m, err := models.Find(name)
	if errors.Is(err, models.ErrNotFound) {
		return nil, &advice.Error{
			Msg:    "no model " + name,
			Advice: "the examples are " + strings.Join(examples.Names(), ", ") + "; write a first model with: sortkey design new FILE",
			Err:    err,
		}
	}
	if list, ok := errors.AsType[model.Errors](err); ok {
		if _, explained := errors.AsType[*advice.Error](err); !explained {
			return nil, modelErrors(name, list)
		}
	}
	return m, err
}

// modelErrors returns all errors of a model as one.
func modelErrors(path string, list model.Errors) error {
	if len(list) == 1 {
		return &advice.Error{Msg: list[0].Error(), Advice: list[0].Hint, Err: list}
	}
	text := strings.ReplaceAll(list.Error(), "\n", "\n  ")
	return &advice.Error{Msg: fmt.Sprintf("%s has %d errors:\n  %s", path, len(list), text), Err: list}
}

func (a *App) designNewCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Write a first model with comments",
		Long: `New writes a small model whose comments explain the model file, and beside it
` + schemaFile + `, with which editors check and complete the model. Without FILE it
writes the model to standard output. It overwrites an existing model only with --force.`,
		Example: `  sortkey design new shop.yaml
  sortkey design check shop.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("design new", "design new takes one file, not %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: modelsAndFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := a.Stdout.Write(modelfile.Starter())
				return err
			}
			if err := a.writeNew(args[0], modelfile.Starter(), force); err != nil {
				return err
			}
			// The model names the schema in its first line, for editors.
			err := a.writeNew(filepath.Join(filepath.Dir(args[0]), schemaFile), modelfile.Schema(), false)
			if errors.Is(err, fs.ErrExist) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

// schemaFile is the schema that the first line of a new model names.
const schemaFile = "model.schema.json"

// writeNew writes a file that must not exist, unless force is set.
func (a *App) writeNew(path string, data []byte, force bool) error {
	flags := os.O_CREATE | os.O_EXCL | os.O_WRONLY
	if force {
		flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	}
	f, err := os.OpenFile(path, flags, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return &advice.Error{
			Msg: path + " already exists", Advice: "give another name, or overwrite it with --force", Err: err,
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// output writes to a file, or to Stdout if path is empty or "-".
func (a *App) output(path string, data []byte) error {
	if path == "" || path == "-" {
		_, err := a.Stdout.Write(data)
		return err
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return &advice.Error{Msg: err.Error(), Advice: "give another file with -o", Err: err}
	}
	return nil
}

func (a *App) designSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of model files, for editors",
		Long: `Schema prints the JSON Schema of model files. An editor with the YAML language
server checks and completes a model with this first line:
  # yaml-language-server: $schema=model.schema.json`,
		Example: "  sortkey design schema > model.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Stdout.Write(modelfile.Schema())
			return err
		},
	}
}

func (a *App) designGenCommand() *cobra.Command {
	var pkg, out string
	cmd := &cobra.Command{
		Use:   "gen MODEL",
		Short: "Write Go functions for the keys and patterns of a model",
		Long: `Gen writes a Go file with a struct for each entity, methods that build and read its
keys, and a function for each access pattern that returns its request.`,
		Example:           "  sortkey design gen shop.yaml --package shop -o shop/keys.go",
		Args:              oneModel,
		ValidArgsFunction: modelsAndFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := loadModel(args[0])
			if err != nil {
				return err
			}
			code, err := gen.Go(m, pkg)
			if err != nil {
				return err
			}
			return a.output(out, code)
		},
	}
	cmd.Flags().StringVar(&pkg, "package", "keys", "`NAME` of the Go package")
	cmd.Flags().StringVarP(&out, "output", "o", "", "output `FILE` (default standard output)")
	mustComplete(cmd, "package", cobra.NoFileCompletions)
	return cmd
}

func (a *App) designExprCommand() *cobra.Command {
	var lang string
	cmd := &cobra.Command{
		Use:   "expr MODEL [PATTERN]",
		Short: "Write the request of an access pattern as code",
		Long: `Expr writes the request of an access pattern, with its key condition, names and
values: as a line of the AWS CLI, as Go, Python or JavaScript, or as JSON. Without
PATTERN it writes the requests of all patterns.`,
		Example: `  sortkey design expr shop.yaml 'orders of a customer, newest first'
  sortkey design expr shop.yaml 'orders of a customer, newest first' --lang python`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return usage("design expr", "design expr needs a model file and the name of a pattern")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return modelsAndFiles(cmd, args, toComplete)
			}
			m, err := loadModel(args[0])
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return withPrefix(patternNames(m), toComplete), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := loadModel(args[0])
			if err != nil {
				return err
			}
			list := m.Patterns
			if len(args) == 2 {
				p, err := patternNamed(m, args[1])
				if err != nil {
					return err
				}
				list = []*model.Pattern{p}
			}
			return a.expressions(m, list, lang, len(args) == 2)
		},
	}
	cmd.Flags().StringVarP(&lang, "lang", "l", "aws", "`LANGUAGE`: "+strings.Join(languages(), ", "))
	mustComplete(cmd, "lang", func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(languages(), toComplete), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func languages() []string { return append(gen.Languages(), "json") }

func patternNames(m *model.Model) (names []string) {
	for _, p := range m.Patterns {
		names = append(names, p.Name)
	}
	return names
}

// patternNamed returns the pattern with a name, or the only one whose name
// contains it.
func patternNamed(m *model.Model, name string) (*model.Pattern, error) {
	if p := m.Pattern(name); p != nil {
		return p, nil
	}
	var like []*model.Pattern
	for _, p := range m.Patterns {
		if strings.Contains(strings.ToLower(p.Name), strings.ToLower(name)) {
			like = append(like, p)
		}
	}
	if len(like) == 1 {
		return like[0], nil
	}
	return nil, advice.New(
		"the patterns are:\n  "+strings.Join(patternNames(m), "\n  "), "model %s has %s pattern named %q", m.Name,
		map[bool]string{true: "no", false: "more than one"}[len(like) == 0], name,
	)
}

// expressions writes the request of one pattern, or the requests of all patterns
// as one program or JSON document.
func (a *App) expressions(m *model.Model, list []*model.Pattern, lang string, one bool) error {
	var texts []patternRequest
	for _, p := range list {
		e := patternRequest{Pattern: p.Name, Operation: p.Operation}
		var err error
		e.text, err = expression(m, p, lang)
		if refused, ok := errors.AsType[*compile.Error](err); ok {
			if one {
				return &advice.Error{
					Msg: p.Name + " is not one request: " + refused.Msg, Advice: refused.Advice, Err: err,
				}
			}
			e.NotOne = refused.Msg
		} else if err != nil {
			return usage("design expr", "%v", err)
		}
		if lang == "json" && e.NotOne == "" {
			e.Request = json.RawMessage(e.text)
		}
		texts = append(texts, e)
	}
	var out bytes.Buffer
	switch {
	case one:
		out.WriteString(texts[0].text)
	case lang == "json":
		if err := writeJSON(&out, texts); err != nil {
			return err
		}
	default:
		program(&out, texts, lang)
	}
	_, err := a.Stdout.Write(out.Bytes())
	return err
}

// A patternRequest is the request of a pattern, or the reason why it is not one
// request.
type patternRequest struct {
	Pattern   string          `json:"pattern"`
	Operation string          `json:"operation"`
	Request   json.RawMessage `json:"request,omitempty"`
	NotOne    string          `json:"notOneRequest,omitempty"`
	text      string
}

var jsImport = regexp.MustCompile(`^import \{ DynamoDBClient, (\w+) \} from "[^"]+";\n\n`)

// program writes several requests as one program, with their common beginning
// once.
func program(out *bytes.Buffer, list []patternRequest, lang string) {
	mark, shared := "# ", map[string]string{"python": "import boto3\n\nclient = boto3.client(\"dynamodb\")\n\n", "js": "const client = new DynamoDBClient({});\n\n"}[lang]
	if lang == "go" || lang == "js" {
		mark = "// "
	}
	comment := func(s string) { out.WriteString(mark + strings.Join(strings.Fields(s), " ") + "\n") }
	var commands []string
	for i := range list {
		if m := jsImport.FindStringSubmatch(list[i].text); lang == "js" && m != nil {
			list[i].text = list[i].text[len(m[0]):]
			if !slices.Contains(commands, m[1]) {
				commands = append(commands, m[1])
			}
		}
		list[i].text = strings.TrimPrefix(list[i].text, shared)
	}
	slices.Sort(commands)
	if len(commands) > 0 {
		fmt.Fprintf(
			out, "import { DynamoDBClient, %s } from \"@aws-sdk/client-dynamodb\";\n\n", strings.Join(commands, ", "),
		)
	}
	out.WriteString(shared)
	for i, e := range list {
		if i > 0 {
			out.WriteByte('\n')
		}
		comment(e.Pattern)
		switch {
		case e.NotOne != "":
			comment("is not one request: " + e.NotOne)
		case lang == "js" || lang == "go": // a block of its own for its names
			out.WriteString("{\n" + e.text + "}\n")
		default:
			out.WriteString(e.text)
		}
	}
}

func expression(m *model.Model, p *model.Pattern, lang string) (string, error) {
	if lang != "json" {
		return gen.Expression(m, p, lang)
	}
	request, err := compile.PatternJSON(m, p)
	if err != nil {
		return "", err
	}
	return string(request) + "\n", nil
}
