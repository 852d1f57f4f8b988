package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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

// Limits of what a look around reads: it must be quicker than a thought.
const (
	mostEntries = 10_000
	mostBytes   = 1 << 20 // of all files
	patience    = time.Second
	mostHints   = 4
)

// storeFile is in every folder that package store/disk made.
const storeFile = "SORTKEY"

// always returns the hints for any folder.
func always(dir string) []hint {
	return []hint{
		{"sortkey demo", "run seven key designs and see what each query reads"},
		{"sortkey serve", "answer DynamoDB clients on http://127.0.0.1:8000"},
		{"sortkey design new " + free(dir, "shop", ".yaml"), "begin a key design, checked before there is a table"},
		{"sortkey help", "list all commands"},
	}
}

// free returns a name that nothing in a folder has.
func free(dir, name, suffix string) string {
	unused := name + suffix
	for n := 2; exists(filepath.Join(dir, unused)) && n < 100; n++ {
		unused = fmt.Sprintf("%s-%d%s", name, n, suffix)
	}
	return unused
}

// welcome says in ten lines what can be done, first with what lies in a folder.
func welcome(w io.Writer, dir string) error {
	found, general := lookAround(dir), always(dir)
	width := 0
	for _, h := range append(found[:len(found):len(found)], general...) {
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
		list("Or:", general[1:])
	} else {
		list("To begin with:", general)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lookAround returns hints for the databases, models, templates and exports in a folder. What cannot be read
// is passed over, and so is what would take long.
func lookAround(dir string) []hint {
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	if exists(filepath.Join(dir, storeFile)) {
		return []hint{{"sortkey console --data .", "look at its tables in the browser"}}
	}
	entries, _ := folder.ReadDir(mostEntries)
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name(), b.Name()))
	})

	hints := make(chan []hint, mostHints)
	go func() {
		defer close(hints)
		budget := int64(mostBytes)
		for _, e := range entries {
			if found := look(dir, e, &budget); found != nil {
				hints <- found
			}
		}
	}()
	var all []hint
	late := time.After(patience)
	for len(all) < mostHints {
		select {
		case found, ok := <-hints:
			if !ok {
				return all
			}
			for _, h := range found {
				if !slices.Contains(all, h) {
					all = append(all, h)
				}
			}
		case <-late:
			return all
		}
	}
	return all[:mostHints]
}

// rank says which entries to look at first: folders, then files that are likely to be what is looked for.
func rank(e os.DirEntry) int {
	name := strings.ToLower(e.Name())
	likely := func(word string) bool { return strings.Contains(name, word) }
	switch {
	case e.IsDir():
		return 0
	case slices.ContainsFunc([]string{"template", "serverless", "model", "schema", "main.tf", "dynamo"}, likely):
		return 1
	}
	return 2
}

// look returns the hints for an entry of a folder. It takes what it reads from the budget.
func look(dir string, e os.DirEntry, budget *int64) []hint {
	name, path := e.Name(), filepath.Join(dir, e.Name())
	info, err := os.Stat(path) // of what a link leads to
	switch {
	case err != nil, strings.HasPrefix(name, "."):
		return nil
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return nil
	case info.IsDir():
		return folderHints(dir, name)
	case !info.Mode().IsRegular():
		return nil
	}

	*budget -= info.Size()
	switch {
	case *budget < 0:
		*budget += info.Size() // smaller files may still be read
		return nil
	case filepath.Ext(name) == ".tf":
		return terraformHints(dir, budget)
	case isDesignFile(name):
		return fileHints(path, shellWord(name))
	}
	*budget += info.Size()
	return nil
}

// terraformHints returns the hint for all Terraform files of a folder, which are read together.
func terraformHints(dir string, budget *int64) []hint {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.tf"))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			*budget -= info.Size()
		}
	}
	if *budget < 0 {
		return nil
	}
	list, _, err := tabledef.Read(dir, nil)
	if err != nil || len(list) == 0 {
		return nil
	}
	return []hint{serveHint(".", "the Terraform files'", len(list))}
}

func isDesignFile(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// folderHints returns the hints for a folder: a database, or an export.
func folderHints(dir, name string) []hint {
	path, word := filepath.Join(dir, name), shellWord(name)
	switch {
	case exists(filepath.Join(path, storeFile)):
		return []hint{{"sortkey console --data " + word, "look at its tables in the browser"}}
	case isExport(path):
		into := "./" + free(dir, "sortkey-data", "")
		return []hint{{"sortkey import " + word + " --data " + into, "load this export into a database"}}
	}
	return nil
}

// isExport reports whether a folder is an export, or has exports in it, one for each table.
func isExport(path string) bool {
	if exists(filepath.Join(path, s3files.SummaryFile)) || exists(filepath.Join(path, "AWSDynamoDB")) {
		return true
	}
	folder, err := os.Open(path)
	if err != nil {
		return false
	}
	defer folder.Close()
	inner, _ := folder.ReadDir(100)
	return slices.ContainsFunc(inner, func(e os.DirEntry) bool {
		return e.IsDir() && exists(filepath.Join(path, e.Name(), s3files.SummaryFile))
	})
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
