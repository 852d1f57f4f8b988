package s3files

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the checksum of the service's manifests
	"encoding/base64"
	"encoding/hex"
	"hash"
)

// NewHash returns the hash function of the checksums in an export.
func NewHash() hash.Hash { return md5.New() } //nolint:gosec // as above

// Checksum encodes a sum of [NewHash] in the form that manifests use.
func Checksum(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }

// ChecksumOf returns the checksum of data in the form that manifests use.
func ChecksumOf(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // as above
	return Checksum(sum[:])
}

// etag returns the ETag that S3 gives to a multipart upload of a single part. sum is the checksum of that part.
func etag(sum []byte) string {
	parts := md5.Sum(sum) //nolint:gosec // as above
	return hex.EncodeToString(parts[:]) + "-1"
}

// Matches reports whether a manifest has the right checksum. checksum is the contents of the manifest's checksum
// file.
func Matches(manifest, checksum []byte) bool {
	return string(bytes.TrimSpace(checksum)) == ChecksumOf(manifest)
}

// WriteManifest writes the checksum file of a manifest and then the manifest, so that there is never a manifest
// without its checksum.
func WriteManifest(name string, data []byte, write func(name string, data []byte) error) error {
	if err := write(ChecksumFiles(name)[0], []byte(ChecksumOf(data))); err != nil {
		return err
	}
	return write(name, data)
}
