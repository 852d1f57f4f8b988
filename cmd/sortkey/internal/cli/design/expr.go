package design

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

func exprCommand(env *app.Env) *cobra.Command {
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
				return app.Usage("design expr", "design expr needs a model file and the name of a pattern")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return app.Models(cmd, args, prefix)
			}
			m, err := app.LoadModel(args[0])
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return app.WithPrefix(models.PatternNames(m), prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := app.LoadModel(args[0])
			if err != nil {
				return err
			}
			list := m.Patterns
			if len(args) == 2 {
				p, err := models.Pattern(m, args[1])
				if err != nil {
					return err
				}
				list = []*model.Pattern{p}
			}
			return expressions(env, m, list, lang, len(args) == 2)
		},
	}
	cmd.Flags().StringVarP(&lang, "lang", "l", "aws", "`LANGUAGE`: "+strings.Join(languages(), ", "))
	app.Complete(cmd, map[string]cobra.CompletionFunc{"lang": app.Words(languages()...)})
	return cmd
}

func languages() []string { return append(gen.Languages(), "json") }

// expressions writes the request of one pattern, or the requests of all patterns
// as one program or JSON document.
func expressions(env *app.Env, m *model.Model, list []*model.Pattern, lang string, one bool) error {
	var texts []patternRequest
	for _, p := range list {
		e := patternRequest{Pattern: p.Name, Operation: p.Operation}
		parts, err := compile.Split(p)
		if err == nil {
			if e.of = len(parts); e.of > 1 && one {
				fmt.Fprintf(env.Stderr, "sortkey: the first of %s\n", text.Count(e.of, "request"))
			}
			e.text, err = expression(m, parts[0], lang)
		}

		if refused, ok := errors.AsType[*compile.Error](err); ok {
			if one {
				return models.NotOneRequest(p, err)
			}
			e.NotOne = refused.Msg
		} else if err != nil {
			return app.Usage("design expr", "%v", err)
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
		if err := app.WriteJSON(&out, texts); err != nil {
			return err
		}
	default:
		program(&out, texts, lang)
	}

	_, err := env.Stdout.Write(out.Bytes())
	return err
}

// A patternRequest is the request of a pattern, or the reason why it is not one
// request.
type patternRequest struct {
	Pattern   string          `json:"pattern"`
	Operation string          `json:"operation"`
	Request   json.RawMessage `json:"request,omitempty"`
	NotOne    string          `json:"notOneRequest,omitempty"`
	// Of is the number of requests of the pattern, of which this is the first.
	of   int
	text string
}

var jsImport = regexp.MustCompile(`^import \{ DynamoDBClient, (\w+) \} from "[^"]+";\n\n`)

// program writes several requests as one program, with their common beginning
// once.
func program(out *bytes.Buffer, list []patternRequest, lang string) {
	mark, shared := "# ", ""
	switch lang {
	case "python":
		shared = "import boto3\n\nclient = boto3.client(\"dynamodb\")\n\n"
	case "js":
		mark, shared = "// ", "const client = new DynamoDBClient({});\n\n"
	case "go":
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
		if e.of > 1 {
			comment("the first of " + text.Count(e.of, "request"))
		}
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
