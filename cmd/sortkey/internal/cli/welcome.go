package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// A hint is a command line and what it does here.
type hint struct{ command, about string }

// Limits of what a look around reads.
const (
	mostEntries = 500
	mostRead    = 20
	mostBytes   = 256 << 10
	mostHints   = 4
)

// storeFile is in every folder that package store/disk made.
const storeFile = "SORTKEY"

// always are the hints for any folder.
var always = []hint{
	{"sortkey demo", "run seven key designs and see what each query reads"},
	{"sortkey serve", "answer DynamoDB clients on http://127.0.0.1:8000"},
	{"sortkey design new shop.yaml", "begin a key design, checked before there is a table"},
	{"sortkey help", "list all commands"},
}

// welcome says in ten lines what can be done, first with what lies in a folder.
func welcome(w io.Writer, dir string) error {
	found := lookAround(dir)
	width := 0
	for _, h := range append(found[:len(found):len(found)], always...) {
		width = max(width, utf8.RuneCountInString(h.command))
	}

	var b strings.Builder
	b.WriteString("Sortkey is an ordered key-value store that answers like DynamoDB.\n")
	list := func(title string, hints []hint) {
		if len(hints) == 0 {
			return
		}
		b.WriteString(title + "\n")
		for _, h := range hints {
			gap := strings.Repeat(" ", width-utf8.RuneCountInString(h.command))
			fmt.Fprintf(&b, "  %s%s  %s\n", h.command, gap, h.about)
		}
	}
	list("With what is in this folder:", found)
	if len(found) > 0 {
		list("Or:", always[1:])
	} else {
		list("To begin with:", always)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lookAround returns hints for the databases, models, templates and exports in a folder. What cannot be read
// is passed over.
func lookAround(dir string) (found []hint) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(mostEntries)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if exists(filepath.Join(dir, storeFile)) {
		return folderHints(dir, ".")
	}

	read, terraform := 0, false
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		switch {
		case len(found) == mostHints:
			return found
		case strings.HasPrefix(name, "."), strings.ContainsFunc(name, unicode.IsControl):
		case e.IsDir():
			found = append(found, folderHints(path, shellWord(name))...)
		case filepath.Ext(name) == ".tf":
			terraform = true
		case e.Type().IsRegular() && read < mostRead && isDesignFile(name):
			read++
			found = append(found, fileHints(path, shellWord(name))...)
		}
	}
	if terraform {
		if list, _, err := tabledef.Read(dir, nil); err == nil && len(list) > 0 {
			found = append(found, serveHint(".", "the Terraform files'", len(list)))
		}
	}
	return found[:min(len(found), mostHints)]
}

func isDesignFile(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// folderHints returns the hints for a folder: a database, or an export.
func folderHints(path, name string) []hint {
	switch {
	case exists(filepath.Join(path, storeFile)):
		return []hint{{"sortkey console --data " + name, "look at its tables in the browser"}}
	case exists(filepath.Join(path, s3files.SummaryFile)), exists(filepath.Join(path, "AWSDynamoDB")):
		return []hint{{"sortkey import " + name + " --data ./sortkey-data", "load this export into a database"}}
	}
	return nil
}

// fileHints returns the hints for a file: a model, a template with tables, or a design of another tool.
func fileHints(path, name string) []hint {
	data, err := files.Read(path, mostBytes)
	if err != nil {
		return nil
	}
	if _, err := modelfile.Parse(path, data); err == nil {
		return []hint{{"sortkey design open " + name, "see what this model's queries read and cost"}}
	}
	if list, _, err := (tabledef.Reader{}).ReadData(path, data); err == nil && len(list) > 0 {
		return []hint{serveHint(name, "its", len(list))}
	}
	switch format, _ := convert.Detect(data); format {
	case convert.Workbench, convert.OneTable, convert.ElectroDB, convert.MCP:
		return []hint{{"sortkey design import " + name, "make a model of this " + string(format) + " file"}}
	}
	return nil
}

func serveHint(name, whose string, tables int) hint {
	if tables == 1 {
		return hint{"sortkey serve --load " + name, "serve " + whose + " table"}
	}
	return hint{"sortkey serve --load " + name, fmt.Sprintf("serve %s %d tables", whose, tables)}
}

// shellWord returns a file's name as a shell reads it.
func shellWord(name string) string {
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+,@", r)
	}
	if !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool { return !isPlain(r) }) {
		return name
	}
	return "'./" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
