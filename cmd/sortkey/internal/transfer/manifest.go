package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the checksum of the service's manifests
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sortkey/sortkey/internal/advice"
)

// The files of an export. Source: DG/S3DataExport.Output.html; table.json and
// types.json are ours.
const (
	summaryFile = "manifest-summary.json"
	filesFile   = "manifest-files.json"
	startedFile = "_started"
	dataFolder  = "data"
	schemaFile  = "table.json"
	typesFile   = "types.json"
)

// summary is manifest-summary.json.
type summary struct {
	Version            string  `json:"version"`
	ExportArn          string  `json:"exportArn"`
	StartTime          string  `json:"startTime"`
	EndTime            string  `json:"endTime"`
	TableArn           string  `json:"tableArn"`
	TableID            string  `json:"tableId"`
	ExportTime         string  `json:"exportTime"`
	S3Bucket           *string `json:"s3Bucket"`
	S3Prefix           *string `json:"s3Prefix"`
	S3SseAlgorithm     *string `json:"s3SseAlgorithm"`
	S3SseKmsKeyID      *string `json:"s3SseKmsKeyId"`
	ManifestFilesS3Key string  `json:"manifestFilesS3Key"`
	BilledSizeBytes    int64   `json:"billedSizeBytes"`
	ItemCount          int64   `json:"itemCount"`
	OutputFormat       string  `json:"outputFormat"`
	OutputView         string  `json:"outputView,omitempty"`
	ExportType         string  `json:"exportType,omitempty"`
	// PointInTime is ours: all items are from one point in time.
	PointInTime *bool `json:"pointInTime,omitempty"`
}

const summaryVersion = "2020-06-30"

// dataFile is one line of manifest-files.json.
type dataFile struct {
	ItemCount     int64  `json:"itemCount"`
	MD5Checksum   string `json:"md5Checksum"`
	ETag          string `json:"etag"`
	DataFileS3Key string `json:"dataFileS3Key"`
}

// checksum encodes an MD5 sum as manifests do.
func checksum(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }

// etag returns the ETag of an S3 object that was uploaded in one part.
func etag(sum []byte) string {
	parts := md5.Sum(sum) //nolint:gosec // as above
	return hex.EncodeToString(parts[:]) + "-1"
}

// tableName returns the name of the exported table.
func (s *summary) tableName() string {
	_, name, _ := strings.Cut(s.TableArn, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// maxManifest bounds the size of a manifest, and maxSchema the size of a table's
// definition and of its types, in bytes.
const (
	maxManifest = 256 << 20
	maxSchema   = 4 << 20
)

// readBounded reads a file of at most limit bytes.
func readBounded(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, err
}

// readManifest reads a manifest file and verifies it if there is a checksum.
func readManifest(name string) ([]byte, error) {
	data, err := readBounded(name, maxManifest)
	if err != nil {
		return nil, err
	}
	beside := strings.TrimSuffix(name, ".json") + ".checksum"
	want, err := readBounded(beside, 1<<10)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return data, nil
	case err != nil:
		return nil, err
	}
	if sum := md5.Sum(data); strings.TrimSpace(string(want)) != checksum(sum[:]) { //nolint:gosec // as above
		return nil, advice.New(
			"copy the export again, or remove "+beside+" if you changed the manifest on purpose",
			"%s is damaged: it does not match the checksum in %s", name, beside,
		)
	}
	return data, nil
}

// readExport returns the source that the manifests in a folder describe.
func readExport(dir string) (*Source, error) {
	data, err := readManifest(filepath.Join(dir, summaryFile))
	if err != nil {
		return nil, err
	}
	var sum summary
	err = json.Unmarshal(data, &sum)
	if err == nil && sum.TableArn == "" && sum.OutputFormat == "" {
		err = errors.New("neither a table nor a format")
	}
	if err != nil {
		return nil, advice.New(
			"copy the export again, or name its data files", "%s is not the manifest of an export: %w",
			filepath.Join(dir, summaryFile), err,
		)
	}
	src := &Source{Name: dir, Table: sum.tableName(), Items: sum.ItemCount, export: true}
	if strings.EqualFold(sum.OutputFormat, "ION") {
		return nil, errIonFile("the export " + dir)
	}
	if src.Format, err = ParseFormat(sum.OutputFormat); err != nil {
		return nil, advice.New("", "%s: outputFormat: %w", filepath.Join(dir, summaryFile), err)
	}
	if sum.ExportType == "INCREMENTAL_EXPORT" {
		src.Items = -1
	}
	filesPath := filepath.Join(dir, filesFile)
	data, err = readManifest(filesPath)
	if errors.Is(err, os.ErrNotExist) {
		return nil, advice.New(
			"copy the whole export again, or name its data files",
			"%s is missing, which lists the data files of the export", filesPath,
		)
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		f := dataFile{ItemCount: -1}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.DataFileS3Key == "" {
			return nil, advice.New(
				"copy the export again, or name its data files", "%s: line %d is malformed", filesPath, n,
			)
		}
		name, err := findData(dir, f.DataFileS3Key)
		if err != nil {
			return nil, err
		}
		src.Files = append(src.Files, File{Path: name, Items: f.ItemCount, MD5: f.MD5Checksum})
	}
	if err := lines.Err(); err != nil {
		return nil, advice.New("", "%s is malformed: %w", filesPath, err)
	}
	if src.Schema, err = optional(filepath.Join(dir, schemaFile), ReadSchema); err != nil {
		return nil, err
	}
	if src.Types, err = optional(filepath.Join(dir, typesFile), readTypes); err != nil {
		return nil, err
	}
	if src.Schema != nil && src.Schema.TableName != "" && src.Table == "" {
		src.Table = src.Schema.TableName
	}
	return src, nil
}

// findData returns the path of a data file: in the folder data beside the
// manifests, or for incremental exports, which share one, in the folder data one level
// up. The key is one of a bucket and may have a prefix. A key that leaves the bucket is
// an error: it could name any file of this machine.
func findData(dir, key string) (string, error) {
	local := filepath.FromSlash(strings.TrimLeft(key, "/"))
	if !filepath.IsLocal(local) {
		return "", advice.New(
			"do not trust this export", "%s names the data file %q, which is outside of the export; nothing was read",
			filepath.Join(dir, filesFile), key,
		)
	}
	base := filepath.Base(local)
	for _, name := range []string{filepath.Join(dir, dataFolder, base), filepath.Join(dir, "..", dataFolder, base), filepath.Join(dir, local)} {
		if isFile(name) {
			return name, nil
		}
	}
	return "", advice.New(
		"copy the data folder beside the manifests", "data file %q of %s is missing", key,
		filepath.Join(dir, filesFile),
	)
}

// optional reads a file that may be missing.
func optional[T any](name string, read func(string) (T, error)) (v T, err error) {
	v, err = read(name)
	if errors.Is(err, os.ErrNotExist) {
		var none T
		return none, nil
	}
	return v, err
}

func readTypes(name string) (Types, error) {
	data, err := readBounded(name, maxSchema)
	if err != nil {
		return nil, err
	}
	var t Types
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, advice.New("", "%s is malformed: %w", name, err)
	}
	return t, t.check()
}

// verify compares a file with its checksum in the manifest.
func verify(ctx context.Context, f File, read func(n int)) error {
	r, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	h := md5.New() //nolint:gosec // as above
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
	if got := checksum(h.Sum(nil)); got != f.MD5 {
		return fail(
			ErrDamaged, "copy the export again",
			"%s is damaged: its MD5 is %s, the manifest says %s; nothing was written", f.Path, got, f.MD5,
		)
	}
	return nil
}
