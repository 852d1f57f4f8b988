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
	"github.com/sortkey/sortkey/internal/text"
)

// A hint is a command line and what it does here.
type hint struct{ command, about string }

// Limits of what a look around reads: it must be quicker than a thought.
const (
	mostEntries = 10_000  // of a folder
	mostFolders = 200     // with those inside them
	mostDepth   = 3       // of folders inside each other
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

// lookAround returns hints for the databases, models, templates and exports in a folder and, after those, in the
// folders inside it. What cannot be read is passed over, and so is what would take long.
func lookAround(dir string) []hint {
	if exists(filepath.Join(dir, storeFile)) {
		return []hint{{"sortkey console --data .", "look at its tables in the browser"}}
	}

	hints := make(chan []hint, mostHints)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(hints)
		eachEntry(dir, func(found []hint) bool {
			select {
			case hints <- found:
				return true
			case <-stop:
				return false
			}
		})
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

// eachEntry calls yield with the hints for the entries of a folder, and then for those of the folders inside it, until
// it returns false.
func eachEntry(dir string, yield func([]hint) bool) {
	budget := int64(mostBytes)
	folders := []string{"."}
	for i := 0; i < len(folders); i++ {
		inside := folders[i]
		for _, e := range entriesOf(filepath.Join(dir, inside)) {
			path := filepath.Join(inside, e.Name())
			switch found := look(dir, path, &budget); {
			case found != nil:
				if !yield(found) {
					return
				}
			case e.IsDir() && isLookedInto(path) && len(folders) < mostFolders:
				folders = append(folders, path)
			}
		}
	}
}

// isLookedInto reports whether the files in a folder may be of the project, and the folder is not too deep.
func isLookedInto(path string) bool {
	names := strings.Split(filepath.ToSlash(path), "/")
	last := names[len(names)-1]
	return len(names) <= mostDepth && last[0] != '.' && last != "node_modules" && last != "vendor"
}

// entriesOf returns the entries of a folder, those first that are likely to be what is looked for.
func entriesOf(dir string) []os.DirEntry {
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(mostEntries)
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name(), b.Name()))
	})
	return entries
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

// look returns the hints for an entry at a path in a folder. It takes what it reads from the budget.
func look(dir, name string, budget *int64) []hint {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path) // of what a link leads to
	switch {
	case err != nil, strings.HasPrefix(filepath.Base(name), "."):
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
		if isDesignFile(name) && looksLikeModel(path) {
			about := "this may be a model; it was not read here, as it has " + text.Size(info.Size())
			return []hint{{"sortkey design open " + shellWord(name), about}}
		}
		return nil
	case filepath.Ext(name) == ".tf":
		return terraformHints(filepath.Dir(path), filepath.Dir(name), budget)
	case isDesignFile(name):
		return fileHints(path, shellWord(name))
	}
	*budget += info.Size()
	return nil
}

// modelMembers matches a member that model files have, at the beginning of a line, in YAML or in JSON.
var modelMembers = text.Pattern(`(?m)^\s{0,4}"?(tables|entities|patterns)"?:`)

// looksLikeModel reports whether the beginning of a file has two members that model files have.
func looksLikeModel(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	found := map[string]bool{}
	for _, m := range modelMembers().FindAllSubmatch(head[:n], -1) {
		found[string(m[1])] = true
	}
	return len(found) > 1
}

// terraformHints returns the hint for all Terraform files of a folder, which are read together.
func terraformHints(dir, name string, budget *int64) []hint {
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
	if name != "." {
		name = shellWord(name)
	}
	return []hint{serveHint(name, "the Terraform files'", len(list))}
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

// shellWord returns the path of a file as a shell reads it.
func shellWord(name string) string {
	name = filepath.ToSlash(name)
	isPlain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+,@/", r)
	}
	if !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool { return !isPlain(r) }) {
		return name
	}
	return "'./" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
