package tabledef

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// This file finds files by pattern, as Terraform does: ** matches folders at every depth, and {a,b} either.

const (
	fileWork   = 1024 // to look at a file
	maxPattern = 4096 // bytes of a pattern
)

// files returns the names of the files in a folder of the module that match a pattern.
func (s *scope) files(folder, pattern string) (names []cty.Value, err error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("want a pattern of at most %d bytes", maxPattern)
	}
	for dir, rel := range s.places(folder) {
		rel = filepath.ToSlash(rel)
		var patterns [][]string
		for _, p := range alternatives(pattern, nil) {
			patterns = append(patterns, strings.Split(path.Join(rel, p), "/"))
			if _, err := path.Match(p, ""); err != nil || len(patterns) > maxFiles {
				return nil, fmt.Errorf("%s: want a pattern such as **/*.{yml,yaml}", pattern)
			}
		}

		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		found, err := s.glob(root.FS(), patterns)
		_ = root.Close()
		for _, name := range found {
			if name, err := filepath.Rel(filepath.FromSlash(rel), filepath.FromSlash(name)); err == nil {
				names = append(names, cty.StringVal(filepath.ToSlash(name)))
			}
		}
		return names, err
	}
	return nil, nil
}

// glob returns the regular files that match any of the patterns. It walks only folders that may have them.
func (s *sources) glob(files fs.FS, patterns [][]string) (found []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return nil // a folder that cannot be read has no files
		}
		if err := s.charge(fileWork+16*len(patterns), 1); err != nil {
			return err
		}

		parts := strings.Split(name, "/")
		if entry.IsDir() {
			if slices.ContainsFunc(patterns, func(p []string) bool { return matchesBelow(p, parts) }) {
				return nil
			}
			return fs.SkipDir
		}
		if !slices.ContainsFunc(patterns, func(p []string) bool { return s.matches(p, parts) }) {
			return nil
		}
		if info, err := fs.Stat(files, name); err == nil && info.Mode().IsRegular() {
			found = append(found, name)
		}
		return nil
	})
	if err == nil && len(found) > maxList {
		err = errTooLong
	}
	return found, err
}

// matches reports whether the parts of a name match those of a pattern. It tries each depth for **, so
// that its work counts too.
func (s *sources) matches(pattern, name []string) bool {
	switch {
	case s.charge(1, 0) != nil:
		return false
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		return s.matches(pattern[1:], name) || len(name) > 0 && s.matches(pattern, name[1:])
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && s.matches(pattern[1:], name[1:])
}

// matchesBelow reports whether a folder may have files that match a pattern.
func matchesBelow(pattern, folder []string) bool {
	for i, name := range folder {
		if pattern[i] == "**" {
			return true
		}
		if ok, _ := path.Match(pattern[i], name); !ok || i+1 == len(pattern) {
			return false
		}
	}
	return true
}

// alternatives adds the patterns that a pattern with braces stands for. It stops beyond [maxFiles].
func alternatives(pattern string, all []string) []string {
	depth, begin := 0, 0
	var ends []int // of the alternatives in the first braces
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				begin = i
			}
		case depth == 1 && (c == ',' || c == '}'):
			if ends = append(ends, i); c == '}' {
				from := begin + 1
				for _, end := range ends {
					if len(all) <= maxFiles {
						all = alternatives(pattern[:begin]+pattern[from:end]+pattern[i+1:], all)
					}
					from = end + 1
				}
				return all
			}
		case c == '}' && depth > 0:
			depth--
		}
	}
	return append(all, pattern)
}
