// Command size prints how many thousands of tokens of Go each part of the repository has. It counts the tokens of
// go/scanner, but no comments and no generated files.
//
//	(cd tools && GOWORK=off go run ./size)
//
// The test of this package fails if a part has more tokens than budget.txt allows.
package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// parts lists the parts in the order in which main prints them. The total leaves out the last two.
var parts = []string{
	"library core", "library rest", "workbench", "command", "bench", "fuzz", "tools", "test helpers", "tests",
}

// part returns the part that a file belongs to. The path is relative to the root of the repository and has slashes.
func part(path string) string {
	in := func(folders ...string) bool {
		for _, folder := range folders {
			if strings.HasPrefix(path, folder+"/") {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasSuffix(path, "_test.go"):
		return "tests"
	case in("internal/tests", "store/storetest", "internal/table/tabletest", "internal/wire/wiretest"):
		return "test helpers"
	case in("store", "keycond", "expr", "attr", "keys", "internal/item", "internal/expr", "internal/address",
		"internal/capability"):
		return "library core"
	case in("design", "internal/design"):
		return "workbench"
	case in("cmd"):
		return "command"
	case in("bench"):
		return "bench"
	case in("fuzz"):
		return "fuzz"
	case in("tools", "examples", "scripts", "packages"):
		return "tools"
	}
	return "library rest"
}

// count returns the number of tokens in each part of the repository at root.
func count(root string) (map[string]int, error) {
	sums := map[string]int{}
	return sums, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}

		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		if head := source[:min(len(source), 400)]; !bytes.Contains(head, []byte("Code generated")) {
			sums[part(path)] += tokens(source)
		}
		return nil
	})
}

// tokens counts the tokens of a Go file. It does not count the semicolons that the scanner inserts at the ends of
// lines.
func tokens(source []byte) int {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), source, nil, 0)
	n := 0
	for {
		switch _, t, text := s.Scan(); {
		case t == token.EOF:
			return n
		case t != token.SEMICOLON || text != "\n":
			n++
		}
	}
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("size: ")
	sums, err := count("..")
	if err != nil {
		log.Fatal(err)
	}

	product := 0
	for _, h := range parts {
		fmt.Printf("%7.1f %s\n", float64(sums[h])/1000, h)
		if h != "test helpers" && h != "tests" {
			product += sums[h]
		}
	}
	fmt.Printf("%7.1f all, without test helpers and tests\n", float64(product)/1000)
}
