package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// rewrite reports whether -rewrite is set, the flag of package datadriven.
func rewrite() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// documents are the markdown files, relative to the root of the repository, whose
// output is checked. In each, a block such as
//
//	```console
//	$ sortkey demo file-tree | tail -1
//	10 of 10 access patterns right
//	```
//
// holds commands and their output, standard output and standard error. The commands
// run in a shell in the root of the repository. A line "…" stands for any lines.
var documents = []string{"README.md", "docs/*.md", "design/examples/README.md", "design/examples/*/README.md"}

// TestDocuments runs the commands that documents quote and compares the output. With
// -rewrite it updates the documents.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("runs dozens of commands, whose goroutines other tests run under the race detector")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	root := filepath.Join("..", "..")
	var printed sync.Map // results of commands, because documents quote some of them several times
	for _, pattern := range documents {
		if strings.HasPrefix(pattern, "design/") && !proptest.Long() && !rewrite() {
			continue // these commands run the examples at full size, which takes long
		}
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("no document matches %s (%v)", pattern, err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.ToSlash(name), func(t *testing.T) {
				t.Parallel()
				checkDocument(t, file, func(command string) (string, error) {
					run, _ := printed.LoadOrStore(command, sync.OnceValues(func() (string, error) {
						cmd := exec.Command(shell, "-c", command)
						cmd.Dir = root
						cmd.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=", "AWS_ENDPOINT_URL_DYNAMODB=", "AWS_ENDPOINT_URL=")
						out, err := cmd.CombinedOutput()
						if _, ended := errors.AsType[*exec.ExitError](err); ended {
							err = nil // documents also quote errors
						}
						return string(out), err
					}))
					return run.(func() (string, error))()
				})
			})
		}
	}
}

// checkDocument compares the quoted outputs in a file with what run returns.
func checkDocument(t *testing.T, file string, run func(command string) (string, error)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, wrong := requote(string(data), run)
	if len(wrong) == 0 {
		return
	}
	if rewrite() {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			if w.lost {
				t.Errorf("%s:%d: %s: the output no longer has the text quoted between …; quote it again by hand", file, w.line, w.command)
			}
		}
		return
	}
	for _, w := range wrong {
		t.Errorf("%s:%d: %s has other output (update with go test ./cmd/sortkey -run TestDocuments -rewrite):\n%s", file, w.line, w.command, w.got)
	}
}

// A misquote is a quoted output that differs from the command's output.
type misquote struct {
	line    int // of the command
	command string
	got     string
	lost    bool // the output has no text for it
}

// requote returns a document with the current outputs of its commands, and the quoted outputs that differed.
func requote(text string, run func(command string) (string, error)) (string, []misquote) {
	lines := strings.Split(text, "\n")
	var out []string
	var wrong []misquote
	for i := 0; i < len(lines); {
		out = append(out, lines[i])
		i++
		if lines[i-1] != "```console" {
			continue
		}
		for i < len(lines) && lines[i] != "```" {
			out = append(out, lines[i])
			command, ok := strings.CutPrefix(lines[i], "$ ")
			if !ok {
				wrong = append(wrong, misquote{line: i + 1, command: lines[i], got: "a block begins with a command, after \"$ \"", lost: true})
				i++
				continue
			}
			at := i + 1
			i++
			var quoted []string
			for i < len(lines) && lines[i] != "```" && !strings.HasPrefix(lines[i], "$ ") {
				quoted = append(quoted, lines[i])
				i++
			}
			got, err := run(command)
			if err != nil {
				got = err.Error()
			}
			printed := strings.Split(strings.TrimRight(got, "\n"), "\n")
			for j := range printed {
				printed[j] = strings.TrimRight(printed[j], " ")
			}
			renewed, same, ok := quote(quoted, printed)
			if !same {
				wrong = append(wrong, misquote{line: at, command: command, got: got, lost: !ok})
			}
			out = append(out, renewed...)
		}
	}
	return strings.Join(out, "\n"), wrong
}

const elision = "…"

// quote updates a quoted output, which may have elisions, from the printed one. It returns the new quoted output, and
// whether it is the same as before. It finds each part between elisions by its first line; ok is false if the printed
// output does not have that line.
func quote(quoted, printed []string) (renewed []string, same, ok bool) {
	if !slices.Contains(quoted, elision) {
		return printed, slices.Equal(quoted, printed), true
	}
	ok = true
	var part []string
	at, anchored := 0, true // the first part begins at the first line
	end := func(last bool) {
		if len(part) == 0 {
			return
		}
		start := at
		if !anchored {
			if i := slices.Index(printed[at:], part[0]); i >= 0 {
				start = at + i
				// If the first line occurs several times, take the first place where the whole part matches.
				for j := start; j+len(part) <= len(printed); j++ {
					if slices.Equal(printed[j:j+len(part)], part) {
						start = j
						break
					}
				}
			} else {
				ok = false
				renewed = append(renewed, part...)
				return
			}
		}
		stop := min(start+len(part), len(printed))
		if last {
			stop = len(printed)
		}
		renewed = append(renewed, printed[start:stop]...)
		at = stop
	}
	for _, line := range quoted {
		if line != elision {
			part = append(part, line)
			continue
		}
		end(false)
		renewed = append(renewed, elision)
		part, anchored = nil, false
	}
	end(true)
	return renewed, ok && slices.Equal(renewed, quoted), ok
}
