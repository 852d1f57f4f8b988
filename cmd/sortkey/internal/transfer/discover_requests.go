package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sortkey/sortkey/internal/requestfile"
	"github.com/sortkey/sortkey/internal/text"
)

// DiscoverRequests returns a source for each table that the requests in a file write to. It returns nil if the file
// does not contain requests.
func DiscoverRequests(path string) ([]*Source, error) { return discoverRequests(path, Auto, "") }

// discoverRequests returns a source for each table that the requests in a file write to. If only is not "", it
// returns only the source for that table. It returns nil if the file does not contain requests. It also returns nil
// for a pipe, such as standard input, because a process can read a pipe only once.
func discoverRequests(path string, format Format, only string) ([]*Source, error) {
	if path == stdin || !isFile(path) || format != Requests && format != Auto && format != "" {
		return nil, nil
	}
	in, err := openInput(path)
	if err != nil {
		return nil, nil //nolint:nilerr // reading the file reports the error
	}
	defer in.Close()
	head := bufio.NewReaderSize(in, requestfile.Head)
	skipMark(head)
	if begin, _ := head.Peek(requestfile.Head); format != Requests && !requestfile.Is(begin) {
		return nil, nil
	}

	r := requestfile.NewReader(head, DefaultMaxLine)
	var tables []string
	nameless := false
	for {
		w, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) && len(tables) == 0 && !nameless {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			break // the import also reads up to the error, and then reports the error
		}
		if nameless = nameless || w.Table == ""; w.Table != "" && !slices.Contains(tables, w.Table) {
			tables = append(tables, w.Table)
		}
	}
	switch {
	case len(tables) == 0:
		tables = []string{only}
	case only != "" && !slices.Contains(tables, only):
		return nil, fmt.Errorf("%s: %w", path, errOtherTable(text.Join(tables, "and"), only))
	case only != "":
		tables = []string{only}
	}

	found := make([]*Source, len(tables))
	for i, table := range tables {
		found[i] = &Source{
			Name: path, Table: table, Format: Requests, Files: []File{{Path: path, Items: -1}}, Items: -1,
			requests: true, named: i > 0,
		}
	}
	return found, nil
}
