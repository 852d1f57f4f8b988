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

// ChecksumFile returns the name of the file with the checksum of a manifest.
func ChecksumFile(manifest string) string { return strings.TrimSuffix(manifest, ".json") + ".checksum" }
