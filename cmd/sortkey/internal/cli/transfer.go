package cli

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// flagAdvice maps a kind of error of package transfer to the flags of the command import with which the user can
// avoid the error.
var flagAdvice = []struct {
	kind error
	text string
}{
	{transfer.ErrInterrupted, "resume it with --resume, or start over with --restart"},
	{transfer.ErrRestart, "start over with --restart"},
	{transfer.ErrBusy, "give this import its own files with --journal and --rejects"},
	{transfer.ErrRejects, "name another file with --rejects"},
	{transfer.ErrJournal, "name another file with --journal"},
	{transfer.ErrNoName, "name it with --table"},
	{
		transfer.ErrNoTable,
		"to create it, give its key with --key, such as --key 'customer / placed:N', or its definition with --schema",
	},
	{transfer.ErrOtherKey, "import into another table with --table"},
	{transfer.ErrType, "omit its --type"},
	{transfer.ErrColumns, "name all columns with --columns, or the character between cells with --delimiter"},
	{transfer.ErrOverloaded, "reduce the number of concurrent requests with --workers"},
}

// explainTransfer adds advice to an error of an import or export. For example, if no server is listening, the advice
// says how to start one.
func explainTransfer(err error) *advice.Error {
	_, explained := errors.AsType[*advice.Error](err)
	if u, ok := errors.AsType[*url.Error](err); ok && !explained && errors.Is(err, syscall.ECONNREFUSED) {
		return &advice.Error{
			Msg: "no server is listening at " + strings.TrimSuffix(u.URL, "/"), Err: err,
			Advice: "start a server with: sortkey serve — or name another with --endpoint, or a folder with --data",
		}
	}
	return app.Explain(err)
}

// explainImport adds advice to an error of an import, as explainTransfer does. It also adds the flags with which the
// user can avoid the error.
func explainImport(err error) *advice.Error {
	e := explainTransfer(err)
	var ways []string
	if e.Advice != "" {
		ways = append(ways, e.Advice)
	}
	for _, f := range flagAdvice {
		if errors.Is(err, f.kind) {
			ways = append(ways, f.text)
		}
	}
	e.Advice = strings.Join(ways, ", or ")
	return e
}

// parseFormat converts the value of --format to the format of an import.
func parseFormat(name string) (transfer.Format, error) {
	if !slices.Contains(importFormats, name) {
		return "", app.UsageError(
			"the formats are "+strings.Join(importFormats, ", "), "--format: unknown format %q", name,
		)
	}
	return transfer.Format(name), nil
}

func parseDelimiter(text string) (byte, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab" || text == `\t`:
		return '\t', nil
	case len(text) == 1 && strings.Contains(",;:| \t", text):
		return text[0], nil
	}
	return 0, app.UsageError(
		"the delimiters are those of the service: , ; : | tab and space", "--delimiter: unknown delimiter %q", text,
	)
}
