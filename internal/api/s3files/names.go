package s3files

import (
	"path"
	"strings"
)

// Names in the directory of an export.
const (
	SummaryFile = "manifest-summary.json"
	FilesFile   = "manifest-files.json"
	StartedFile = "_started"
	DataFolder  = "data"
)

// Root is the directory that holds the directories of exports. In a bucket it is below the S3Prefix of the request.
const Root = "AWSDynamoDB"

// Folder returns the directory in a bucket that the job with this ARN writes to.
func Folder(prefix, arn string) string {
	return path.Join(strings.Trim(prefix, "/"), Root, path.Base(arn))
}

// ChecksumFiles returns the names that the checksum file of a manifest may have. The first is the service's; the
// second is the name that Sortkey used until November 2026. Source: scylladb, test_export.py, a run against the
// service.
func ChecksumFiles(manifest string) [2]string {
	base := strings.TrimSuffix(manifest, ".json")
	return [...]string{base + ".md5", base + ".checksum"}
}
