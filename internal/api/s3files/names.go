package s3files

import (
	"path"
	"strings"
)

// The names in the folder of an export.
const (
	SummaryFile = "manifest-summary.json"
	FilesFile   = "manifest-files.json"
	StartedFile = "_started"
	DataFolder  = "data"
)

// Root is the folder in a bucket, below the prefix of a request, that the folders of
// exports are in.
const Root = "AWSDynamoDB"

// Folder returns the folder in a bucket that a job with an ARN writes to.
func Folder(prefix, arn string) string {
	return path.Join(strings.Trim(prefix, "/"), Root, path.Base(arn))
}

// ChecksumFiles returns the names that the file with the checksum of a manifest may have: the
// service's, and the one that Sortkey wrote until November 2026.
// Source: scylladb, test_export.py, a run against the service.
func ChecksumFiles(manifest string) [2]string {
	base := strings.TrimSuffix(manifest, ".json")
	return [...]string{base + ".md5", base + ".checksum"}
}
