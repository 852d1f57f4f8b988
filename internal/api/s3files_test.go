package api_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/s3files"
)

func TestNames(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:1:table/Rows/export/01-ab"
	require.Equal(t, "AWSDynamoDB/01-ab", s3files.Folder("", arn))
	require.Equal(t, "some/where/AWSDynamoDB/01-ab", s3files.Folder("/some/where/", arn))
	require.Equal(t, [...]string{"manifest-files.md5", "manifest-files.checksum"}, s3files.ChecksumFiles(s3files.FilesFile))
	require.Equal(t, "2026-01-02T02:04:05.006Z",
		s3files.Time(time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600))))
	require.Equal(t, "Rows", (&s3files.Summary{TableArn: arn}).TableName())
}

// TestForms reads manifests in both forms.
func TestForms(t *testing.T) {
	summary := &s3files.Summary{
		Version: s3files.Version, TableArn: "arn:aws:dynamodb:us-east-1:1:table/<&>", S3Prefix: new("a"),
		ItemCount: 1 << 60, OutputFormat: s3files.FormatDynamoDB, PointInTime: new(false),
	}
	file := s3files.DataFile{ItemCount: 2, MD5Checksum: "c==", ETag: "e-1", DataFileS3Key: "data/<&>"}
	for _, form := range []s3files.Form{s3files.Guided, s3files.Sorted} {
		data, err := summary.Encode(form)
		require.NoError(t, err)
		got, err := s3files.ParseSummary(data)
		require.NoError(t, err)
		require.Equal(t, summary, got)

		line, err := file.Encode(form)
		require.NoError(t, err)
		var files []s3files.DataFile
		for f, err := range s3files.DataFiles(append(line, line...)) {
			require.NoError(t, err)
			files = append(files, f)
		}
		require.Equal(t, []s3files.DataFile{file, file}, files)
	}
}

func TestMalformed(t *testing.T) {
	for _, data := range []string{"", "{", "null", `{"version":"2020-06-30"}`} {
		_, err := s3files.ParseSummary([]byte(data))
		require.Error(t, err, data)
	}
	var errs []error
	for f, err := range s3files.DataFiles([]byte("\n{\"dataFileS3Key\":\"a\"}\n{}\n{\"dataFileS3Key\":\"b\"}\n")) {
		if err == nil {
			require.Equal(t, s3files.DataFile{ItemCount: -1, DataFileS3Key: "a"}, f)
		}
		errs = append(errs, err)
	}
	require.Equal(t, []error{nil, s3files.LineError(3)}, errs)
	for _, err := range s3files.DataFiles([]byte(strings.Repeat(" ", 2<<20))) {
		require.Error(t, err)
	}
	for _, line := range []string{"", "nonsense", "{}", `{"Item":{"a":{"X":"x"}}}`} {
		_, ok := s3files.ParseItem([]byte(line))
		require.False(t, ok, line)
	}
}

// TestWriter checks that the manifest entry of a data file is correct, and that the lines of the file are items.
func TestWriter(t *testing.T) {
	var b attr.Builder
	b.Add("pk", attr.NewString("<&>"))
	it := b.Item()
	var plain bytes.Buffer
	for _, compress := range []bool{false, true} {
		var file bytes.Buffer
		w := s3files.NewWriter(&file, compress)
		require.NoError(t, w.WriteItem(it))
		require.NoError(t, w.WriteItem(it))
		require.NoError(t, w.Close())

		sum := s3files.NewHash()
		sum.Write(file.Bytes())
		f := w.DataFile("data/x")
		require.Equal(t, s3files.Checksum(sum.Sum(nil)), f.MD5Checksum)
		require.Regexp(t, `^[0-9a-f]{32}-1$`, f.ETag)
		require.Equal(t, int64(2), f.ItemCount)
		require.Equal(t, int64(file.Len()), w.Size())
		if !compress {
			plain = file
		}
	}
	require.Equal(t, strings.Repeat(`{"Item":{"pk":{"S":"<&>"}}}`+"\n", 2), plain.String())
	line, _, _ := bytes.Cut(plain.Bytes(), []byte("\n"))
	got, ok := s3files.ParseItem(line)
	require.True(t, ok)
	require.Equal(t, it, got)
}
