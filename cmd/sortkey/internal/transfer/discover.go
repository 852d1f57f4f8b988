package transfer

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/text"
)

// A Source is a set of files that contain items of one table.
type Source struct {
	// Name is the path of the file or folder as the user gave it.
	Name string
	// Table is the name of the table, or "" if the source does not state it.
	Table string
	// Schema is the definition of the table, or nil if the source does not have it.
	Schema *tabledef.Schema
	// Format and Types are what the source itself says about its files. Default: Auto, and no types.
	Format Format
	Types  Types
	// Files are the data files in reading order.
	Files []File
	// Items is the number of items, or -1 if it is unknown.
	Items int64

	export bool
	// requests is set if the file contains requests. The source then consists only of the writes to Table. If named
	// is not set, the source also has the writes that do not name their table.
	requests, named bool
}

// reading returns the options for reading the source. For each option that o does not set, it takes what the source
// declares.
func (s *Source) reading(o ReadOptions) ReadOptions {
	if (o.Format == Auto || o.Format == "") && s.Format != "" {
		o.Format = s.Format
	}
	types := Types{}
	maps.Copy(types, s.Types)
	maps.Copy(types, o.Types)
	o.Types = types
	if s.requests {
		o.Table, o.Named = s.Table, s.named
	}
	return o
}

// sum returns the number of items in all files, or -1 if it is unknown.
func (s *Source) sum() (n int64) {
	for _, f := range s.Files {
		if f.Items < 0 {
			return -1
		}
		n += f.Items
	}
	return n
}

// A File is one data file.
type File struct {
	Path string
	// Items is the number of records according to the manifest, or -1.
	Items int64
	// MD5 is the checksum according to the manifest, in base64, or "".
	MD5 string
}

// dataSuffixes are the suffixes of data files in a folder without a manifest.
var dataSuffixes = []string{".json", ".jsonl", ".ndjson", ".csv", ".tsv"}

// Discover returns the sources in files and folders. The path "-" is standard input.
//
// A folder may be an export with its manifests, or contain several exports, such as a bucket or an export of all
// tables. Any other folder contains the data files of one table, and may contain the table's definition in
// table.json. A file of requests is one source for each table that it writes to. All other files in paths together
// are one source.
//
// Format is the format of the files. If table is not "", Discover omits requests to other tables.
func Discover(paths []string, format Format, table string) ([]*Source, error) {
	var found []*Source
	var files *Source
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case path != stdin && errors.Is(err, fs.ErrNotExist):
			return nil, advice.New("name a file, a folder, or - for standard input", "%s does not exist", path)
		case path != stdin && err != nil:
			return nil, err
		}

		if path != stdin && info.IsDir() {
			sources, err := discoverFolder(path, format, table)
			if err != nil {
				return nil, err
			}
			found = append(found, sources...)
			continue
		}

		if name := filepath.Base(path); name == s3files.SummaryFile || name == s3files.FilesFile {
			return nil, advice.New(
				"name its folder: "+filepath.Dir(path), "%s is the manifest of an export; it has no items", path,
			)
		}

		writes, err := discoverRequests(path, format, table)
		if err != nil {
			return nil, err
		}
		if writes != nil {
			found = append(found, writes...)
			continue
		}

		if files == nil {
			files = &Source{Name: path, Items: -1, Format: Auto}
			found = append(found, files)
		}
		files.Files = append(files.Files, File{Path: path, Items: -1})
	}
	if len(found) == 0 {
		return nil, advice.New("name files or folders, or - for standard input", "nothing to import")
	}
	return found, distinct(found)
}

// distinct returns an error if there are several full exports of one table. If Import read them one after the other,
// it would write items that somebody deleted before the later export.
func distinct(found []*Source) error {
	seen := map[string]string{}
	for _, s := range found {
		if !s.export || s.Table == "" {
			continue
		}
		if before, ok := seen[s.Table]; ok && s.Items >= 0 {
			return advice.New(
				"name the one to import", "%s and %s are both exports of table %s", before, s.Name, s.Table,
			)
		}
		seen[s.Table] = s.Name
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// maxBelow is how many levels below a folder Discover looks for exports. In a folder of buckets,
// BUCKET/AWSDynamoDB/EXPORT is three levels below.
const maxBelow = 3

func discoverFolder(dir string, format Format, table string) ([]*Source, error) {
	dir = filepath.Clean(dir)
	var exports []*Source
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		below := strings.TrimPrefix(path, dir)
		if err != nil || !d.IsDir() || strings.Count(below, string(filepath.Separator)) > maxBelow {
			return skipFolder(d)
		}
		if isFile(filepath.Join(path, s3files.SummaryFile)) {
			src, err := readExport(path)
			exports = append(exports, src)
			return cmp.Or(err, fs.SkipDir)
		}
		for _, name := range []string{s3files.StartedFile, s3files.FilesFile} {
			if isFile(filepath.Join(path, name)) {
				return advice.New(
					"export again, or name its folder "+s3files.DataFolder+" to import what is there",
					"%s is an unfinished export: it has no %s", path, s3files.SummaryFile,
				)
			}
		}
		return nil
	})
	if err != nil || exports != nil {
		return exports, err
	}

	found, err := dataFiles(dir, format, table)
	if data := filepath.Join(dir, s3files.DataFolder); err == nil && found == nil && isFolder(data) {
		found, err = dataFiles(data, format, table)
	}
	if err == nil && found == nil {
		err = fail(ErrNoData, "name the data files, or a folder with an export", "no data files in %s", dir)
	}
	return found, err
}

// skipFolder returns [fs.SkipDir] for a folder, so that WalkDir skips the contents of the folder, and nil for a file.
func skipFolder(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// isDataName reports whether a file in a folder without a manifest has the name of a data file.
func isDataName(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".zst")
	return slices.Contains(dataSuffixes, filepath.Ext(name)) && !strings.HasPrefix(name, ".") && !ownFile(name)
}

// dataFiles returns the sources in a folder of data files. It returns none if the folder has no data files.
func dataFiles(dir string, format Format, table string) (found []*Source, err error) {
	src := &Source{Name: dir, Items: -1, Format: Auto}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}

	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !isDataName(e.Name()) || !isFile(path) {
			continue
		}
		writes, err := discoverRequests(path, format, table)
		if err != nil {
			return nil, err
		}
		found = append(found, writes...)
		if writes == nil {
			src.Files = append(src.Files, File{Path: path, Items: -1})
		}
	}
	if src.Files == nil {
		return found, nil
	}

	// In an export, table.json is not in the folder data but beside it.
	beside := dir
	if filepath.Base(dir) == s3files.DataFolder && !isFile(filepath.Join(dir, schemaFile)) {
		beside = filepath.Join(dir, "..")
	}
	if src.Schema, err = optional(filepath.Join(beside, schemaFile), ReadSchema); err != nil {
		return nil, err
	}
	if src.Schema != nil {
		src.Table = src.Schema.TableName
	}
	return append(found, src), nil
}

// LeftOut returns the files in the folders of paths that are in no source, each with the reason. It skips hidden files
// and folders, and the files that exports and imports write for their own purposes.
func LeftOut(paths []string, sources []*Source) (left []string) {
	used := map[string]bool{}
	for _, s := range sources {
		for _, f := range s.Files {
			used[filepath.Clean(f.Path)] = true
		}
	}
	exports := slices.ContainsFunc(sources, func(s *Source) bool { return s.export })
	for _, dir := range paths {
		dir = filepath.Clean(dir)
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil, path != dir && strings.HasPrefix(d.Name(), "."):
				return skipFolder(d)
			case used[path], ownFile(d.Name()), !isFile(path):
			case !isDataName(d.Name()):
				left = append(left, path+": its name does not end with "+text.Join(dataSuffixes, "or"))
			case exports:
				left = append(left, path+": no manifest lists it")
			default:
				left = append(left, path+": it is in a folder below "+dir)
			}
			return nil
		})
	}
	return left
}

// ownFile reports whether an export or import has written a file for its own purposes, so that the file contains no
// data.
func ownFile(name string) bool {
	for _, manifest := range []string{s3files.SummaryFile, s3files.FilesFile} {
		sums := s3files.ChecksumFiles(manifest)
		if name == manifest || slices.Contains(sums[:], name) {
			return true
		}
	}
	return name == schemaFile || name == s3files.StartedFile ||
		strings.HasSuffix(name, journalSuffix) || strings.HasSuffix(name, rejectsSuffix)
}

// The suffixes of the files that an import writes beside its input.
const (
	journalSuffix = ".import-journal"
	rejectsSuffix = ".rejected.jsonl"
)

// Beside returns the default paths of an import's journal and of its report of rejected records. They are beside the
// first path that is not standard input. If all paths are standard input, both are "".
func Beside(paths []string) (journal, rejects string) {
	for _, path := range paths {
		if path != stdin {
			base := filepath.Clean(path)
			if abs, err := filepath.Abs(base); err == nil && (base == "." || base == "..") {
				base = abs
			}
			return base + journalSuffix, base + rejectsSuffix
		}
	}
	return "", ""
}
