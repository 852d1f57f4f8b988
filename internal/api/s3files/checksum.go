package s3files

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the checksum of the service's manifests
	"encoding/base64"
	"encoding/hex"
	"hash"
)

// NewHash returns the hash of checksums.
func NewHash() hash.Hash { return md5.New() } //nolint:gosec // as above

// Checksum returns a sum of [NewHash] as manifests have it.
func Checksum(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }

// ChecksumOf returns the checksum of data as manifests have it.
func ChecksumOf(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // as above
	return Checksum(sum[:])
}

// etag returns the ETag of an object in S3 that was uploaded in one part.
func etag(sum []byte) string {
	parts := md5.Sum(sum) //nolint:gosec // as above
	return hex.EncodeToString(parts[:]) + "-1"
}

// Matches reports whether a manifest has the checksum that the file beside it contains.
func Matches(manifest, checksum []byte) bool {
	return string(bytes.TrimSpace(checksum)) == ChecksumOf(manifest)
}

// WriteManifest writes a manifest, after the file with its checksum.
func WriteManifest(name string, data []byte, write func(name string, data []byte) error) error {
	if err := write(ChecksumFiles(name)[0], []byte(ChecksumOf(data))); err != nil {
		return err
	}
	return write(name, data)
}
