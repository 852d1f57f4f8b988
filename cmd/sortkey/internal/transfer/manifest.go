package transfer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
)

// schemaFile is the table's definition in an export. The service's own exports do not have it.
const schemaFile = "table.json"

// maxManifest bounds the size of a manifest, and maxSchema the size of a table's
// definition, in bytes.
const (
	maxManifest = 256 << 20
	maxSchema   = 4 << 20
)

// readManifest reads a manifest, and compares it with its checksum if there is one.
func readManifest(name string) ([]byte, error) {
	data, err := files.Read(name, maxManifest)
	if err != nil {
		return nil, err
	}
	for _, beside := range s3files.ChecksumFiles(name) {
		want, err := files.Read(beside, 1<<10)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		if !s3files.Matches(data, want) {
			return nil, advice.New(
				"copy the export again, or remove "+beside+" if you changed the manifest on purpose",
				"%s is damaged: it does not match the checksum in %s", name, beside,
			)
		}
	}
	return data, nil
}

func readSummary(name string) (*s3files.Summary, error) {
	data, err := readManifest(name)
	if err != nil {
		return nil, err
	}
	sum, err := s3files.ParseSummary(data)
	if err != nil {
		return nil, advice.New(
			"copy the export again, or name its data files", "%s is not the manifest of an export: %w", name, err,
		)
	}
	return sum, nil
}

// readExport returns the source that the manifests in a folder describe.
func readExport(dir string) (*Source, error) {
	summaryPath := filepath.Join(dir, s3files.SummaryFile)
	sum, err := readSummary(summaryPath)
	if err != nil {
		return nil, err
	}
	src := &Source{Name: dir, Table: sum.TableName(), Items: sum.ItemCount, Format: DynamoDB, export: true}
	if sum.OutputFormat != s3files.FormatDynamoDB {
		return nil, advice.New(
			"export it again as DynamoDB JSON: aws dynamodb export-table-to-point-in-time --export-format "+
				s3files.FormatDynamoDB+" …",
			"the export %s is in the format %q, which is not supported", dir, sum.OutputFormat,
		)
	}
	if sum.ExportType == s3files.IncrementalExport {
		src.Items = -1
	}

	filesPath := filepath.Join(dir, s3files.FilesFile)
	data, err := readManifest(filesPath)
	if errors.Is(err, os.ErrNotExist) {
		return nil, advice.New(
			"copy the whole export again, or name its data files",
			"%s is missing, which lists the data files of the export", filesPath,
		)
	}
	if err != nil {
		return nil, err
	}
	for f, err := range s3files.DataFiles(data) {
		if line, ok := errors.AsType[s3files.LineError](err); ok {
			return nil, advice.New("copy the export again, or name its data files", "%s: %w", filesPath, line)
		}
		if err != nil {
			return nil, advice.New("", "%s is malformed: %w", filesPath, err)
		}
		name, err := findData(dir, f.DataFileS3Key)
		if err != nil {
			return nil, err
		}
		src.Files = append(src.Files, File{Path: name, Items: f.ItemCount, MD5: f.MD5Checksum})
	}

	if src.Schema, err = optional(filepath.Join(dir, schemaFile), ReadSchema); err != nil {
		return nil, err
	}
	if src.Schema != nil && src.Schema.TableName != "" && src.Table == "" {
		src.Table = src.Schema.TableName
	}
	return src, nil
}

// findData returns the path of a data file from its key, which is its name in the bucket of the export. It looks in
// three places: in the folder data beside the manifests, in the folder data one level up, which incremental exports
// share, and at the key below dir. It returns an error if the key has a path out of the export, because such a key
// could name any file of this machine.
func findData(dir, key string) (string, error) {
	local := filepath.FromSlash(strings.TrimLeft(key, "/"))
	if !filepath.IsLocal(local) {
		return "", advice.New(
			"do not trust this export", "%s names the data file %q, which is outside of the export; nothing was read",
			filepath.Join(dir, s3files.FilesFile), key,
		)
	}
	base := filepath.Base(local)
	for _, name := range []string{
		filepath.Join(dir, s3files.DataFolder, base), filepath.Join(dir, "..", s3files.DataFolder, base),
		filepath.Join(dir, local),
	} {
		if isFile(name) {
			return name, nil
		}
	}
	return "", advice.New(
		"copy the data folder beside the manifests", "data file %q of %s is missing", key,
		filepath.Join(dir, s3files.FilesFile),
	)
}

// optional calls read for a file, and returns the zero value if the file does not exist.
func optional[T any](name string, read func(string) (T, error)) (v T, err error) {
	v, err = read(name)
	if errors.Is(err, os.ErrNotExist) {
		var none T
		return none, nil
	}
	return v, err
}

// verify compares a file with its checksum in the manifest. After each read of the file, it calls read with the
// number of bytes.
func verify(ctx context.Context, f File, read func(n int)) error {
	r, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	h := s3files.NewHash()
	buf := make([]byte, 256<<10)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		read(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}

	if got := s3files.Checksum(h.Sum(nil)); got != f.MD5 {
		return fail(
			nil, "copy the export again",
			"%s is damaged: its MD5 is %s, the manifest says %s; nothing was written", f.Path, got, f.MD5,
		)
	}
	return nil
}
