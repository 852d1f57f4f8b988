package design

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

type importFlags struct {
	from string
	outFlags
	app.DefinitionFlags
	convert.Options
}

func importCommand(env *app.Env) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE… | --from URL|FOLDER",
		Short: "Convert a design of another tool to a model",
		Long: `Import converts the design of another tool, or the tables of a running server, to
a model. It reads models of NoSQL Workbench, schemas of OneTable and ElectroDB in
JSON, CreateTable and DescribeTable JSON with items in DynamoDB JSON, and the tables
of templates: of CloudFormation, SAM and cdk synth, of the Serverless Framework, and
of Terraform (a file, a folder, or the output of terraform show -json). -P gives
values to the parameters of a template. Name the file of a program, such as schema.ts,
to see how to import what it declares.

Items can be any number: a file of JSON lines, also compressed, or the folder of an
export to S3. Import takes samples of all of them, evenly from each kind, and counts
the rest.

If the design has items but no templates, import infers templates from their keys; it
copies items that no template produces exactly. If the design has no access patterns,
import derives one for each entity and each index. The budget of a pattern is what its most
expensive request costs in a first run, rounded up. Import lists on standard error what it
could not convert.

Import detects the format from the content unless you give --format. Several files
make one model, such as the definition of a table and its items, or the schemas of
entities of one table, whose keys must agree. FILE can be - for standard input.
--from only reads: the tables of a server, of a folder with a database, or of a
PostgreSQL database, and some of their items, or all of them with --all. Of data that
must stay secret, import what sortkey export --mask has written.`,
		Example: `  sortkey design import workbench.json -o shop.yaml
  sortkey design check shop.yaml

  aws dynamodb describe-table --table-name Shop > table.json
  aws dynamodb scan --table-name Shop --max-items 500 > items.json
  sortkey design import table.json items.json -o shop.yaml

  sortkey design import template.yaml items.json -P Stage=test -o shop.yaml
  sortkey design import infra/ -o shop.yaml
  sortkey design import template.yaml schemas.json -o shop.yaml

  sortkey design import template.yaml s3/AWSDynamoDB/01700000000000-abcd1234

  sortkey design import --from http://127.0.0.1:8000 --table Drive`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && f.from == "":
				return app.Usage("design import", "design import needs a file, or a server with --from")
			case len(args) > 0 && f.from != "":
				return app.Usage("design import", "files and --from exclude each other")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json", "yaml", "yml", "tf", "ts", "js", "gz"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), env, args, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "read the running tables at this `URL|FOLDER`")
	flags.BoolVar(&f.All, "all", false, "with --from, read all items, twice, and count them")
	flags.StringVar(
		&f.Format, "format", "", "`FORMAT` of the files (default detected): "+strings.Join(convert.Formats, ", "),
	)
	flags.StringVar(&f.Table, "table", "", "`TABLE`, if the design does not name it; with --from, the only one to read")
	flags.IntVar(&f.Items, "items", convert.DefaultItems, "import at most `N` items of a table; 0 for none")
	f.outFlags.declare(cmd, "output `FILE`")
	f.DefinitionFlags.Declare(cmd)
	app.AtLeast(cmd, map[string]string{"items": "0"})
	app.Needs(cmd, map[string][]string{"all": {"from"}})
	cmd.MarkFlagsMutuallyExclusive("from", "parameter")
	cmd.MarkFlagsMutuallyExclusive("from", "format")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"format": app.Words(convert.Formats...)})
	return cmd
}

func runImport(ctx context.Context, env *app.Env, args []string, f *importFlags) error {
	switch {
	case f.Format != "" && !slices.Contains(convert.Formats, f.Format):
		return app.Usage(
			"design import", "--format is one of %s, not %q", strings.Join(convert.Formats, ", "), f.Format,
		)
	case f.Items == 0:
		f.Items = -1
	}
	if err := f.check(); err != nil {
		return err
	}
	m, losses, err := convertDesign(ctx, env, args, f)
	if e, ok := errors.AsType[*convert.Error](err); ok {
		return &advice.Error{Msg: e.Error(), Advice: e.Hint, Err: err}
	}
	if err != nil {
		return err
	}

	data, budgets, err := withBudgets(ctx, m)
	if err != nil {
		return err
	}
	if err := f.write(env, data); err != nil {
		return err
	}
	if f.toFile() {
		of := ""
		if len(m.Patterns) > 0 {
			of = fmt.Sprintf(", of which %d %s a budget", budgets, text.Agree(budgets, "has", "have"))
		}
		fmt.Fprintf(
			env.Stderr, "%s: %s, %s, %s%s; check it with: sortkey design check %s\n", f.path,
			text.Count(len(m.Tables), "table"), text.Count(len(m.Entities), "entity"),
			text.Count(len(m.Patterns), "pattern"), of, f.path,
		)
	}

	printLosses(env, losses)
	return nil
}

// budgetComment is the comment in an imported model that says where its budgets come from.
const budgetComment = `# The units below expect are what the most expensive request of each pattern costs with the items
# of this model, rounded up. Write what you expect instead.
`

// withBudgets runs the patterns of m, and sets the budget of each pattern to the cost that it measures. It returns
// the text of the model file, and the number of budgets.
func withBudgets(ctx context.Context, m *model.Model) ([]byte, int, error) {
	w, err := dataset.Build(ctx, m, dataset.Options{OnDemand: true})
	if err != nil {
		return nil, 0, err
	}
	defer w.Close()
	r, err := check.Run(ctx, w, check.Options{})
	if err != nil {
		return nil, 0, err
	}
	n := r.Budget()
	var out bytes.Buffer
	if err := modelfile.Write(&out, m); err != nil {
		return nil, 0, err
	}
	const patterns = "\npatterns:\n"
	if n == 0 {
		return out.Bytes(), n, nil
	}
	return bytes.Replace(out.Bytes(), []byte(patterns), []byte("\n"+budgetComment+patterns[1:]), 1), n, nil
}

// printLosses lists those parts of the design that the import could not convert, or not exactly.
func printLosses(env *app.Env, list []convert.Loss) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(env.Stderr, "not imported, or imported differently:")
	for _, l := range list {
		fmt.Fprintf(env.Stderr, "  %s\n", l)
		if l.Hint != "" {
			fmt.Fprintf(env.Stderr, "    hint: %s\n", l.Hint)
		}
	}
}

// convertDesign converts the files of a design, or the tables of a server, to a model.
func convertDesign(
	ctx context.Context, env *app.Env, args []string, f *importFlags,
) (*model.Model, []convert.Loss, error) {
	if f.from != "" {
		return convertFrom(ctx, env, f)
	}
	definitions, err := f.Reader()
	if err != nil {
		return nil, nil, err
	}
	var files []convert.File
	for _, name := range args {
		file, err := f.readFile(name, definitions)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
	}
	return convert.Import(ctx, files, f.Options)
}

// readFile reads a file or folder to import. From a template it reads the tables, and from a data file the items,
// whatever its length. Package convert parses all other designs, so readFile returns them as bytes.
func (f *importFlags) readFile(name string, definitions tabledef.Reader) (convert.File, error) {
	file := convert.File{Name: name}
	if filepath.Base(name) == s3files.SummaryFile || filepath.Base(name) == s3files.FilesFile {
		return readItems(filepath.Dir(name))
	}

	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		file.Tables, file.Notes, err = definitions.Read(name)
		if errors.Is(err, tabledef.ErrFolder) {
			return readItems(name)
		}
		return file, err
	case err == nil &&
		(info.Size() > convert.MaxFileBytes || slices.Contains([]string{".gz", ".zst"}, filepath.Ext(name))):
		return readItems(name)
	}

	data, err := readDesign(name)
	if err != nil {
		return file, err
	}
	file.Data = data
	if f.Format != "" && f.Format != convert.Tables {
		return file, nil
	}
	format, err := convert.Detect(data)
	if err == nil && format != "" || convert.IsProgram(name) && !strings.HasPrefix(filepath.Base(name), "serverless.") {
		return file, nil
	}

	file.Tables, file.Notes, err = definitions.ReadData(name, data)
	if errors.Is(err, tabledef.ErrOther) {
		return file, nil // package convert returns a better error
	}
	return file, err
}

// readItems returns the items of a file, or of a folder such as an export. It adds the definition of their table if
// the folder has one.
func readItems(name string) (convert.File, error) {
	file := convert.File{Name: name}
	sources, err := transfer.Discover([]string{name}, "", "")
	for _, s := range sources {
		if s.Schema != nil {
			s.Schema.Place = s.Name
			if s.Schema.TableName == "" {
				s.Schema.TableName = s.Table
			}
			file.Tables = append(file.Tables, s.Schema)
		}
		file.Streams = append(file.Streams, convert.Stream{Table: cmp.Or(s.Table, s.Name), Items: s.Each()})
	}
	return file, err
}

func convertFrom(ctx context.Context, env *app.Env, f *importFlags) (*model.Model, []convert.Loss, error) {
	src, err := env.OpenRunning(ctx, f.from)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	call := func(ctx context.Context, in wire.Request) (wire.Output, error) {
		out, _, err := src.Target.Do(ctx, in)
		return out, err
	}
	names, err := models.Tables(ctx, src.Target)
	var m *model.Model
	var losses []convert.Loss
	if err == nil {
		m, losses, err = convert.FromEndpoint(ctx, f.from, names, call, f.Options)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, nil, &advice.Error{
			Msg:    "no server is listening at " + f.from,
			Advice: "start a server with: sortkey serve — or name the files of a design", Err: err,
		}
	}
	return m, losses, err
}

// readDesign reads a file, or standard input for "-". It reads at most one byte more than convert.MaxFileBytes. From
// that byte, the import sees that the file is too long, and rejects it.
func readDesign(name string) ([]byte, error) {
	in := io.Reader(os.Stdin)
	if name != "-" {
		file, err := files.Open(name, math.MaxInt64) // ReadAll below bounds the size
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &advice.Error{
				Msg: name + " does not exist", Advice: "name a file; see sortkey design import --help", Err: err,
			}
		}
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, convert.MaxFileBytes+1))
	if err != nil {
		return nil, advice.New("", "cannot read %s: %v", name, err)
	}
	return data, nil
}
