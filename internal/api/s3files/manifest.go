package s3files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// A Summary is the contents of [SummaryFile].
type Summary struct {
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
	// PointInTime is true if all items are from one point in time. Only Sortkey has this field, not the service.
	PointInTime *bool `json:"pointInTime,omitempty"`
	// TypesMD5 is the checksum of the file with the types of plain JSON, or "". Only Sortkey has this field, not the
	// service.
	TypesMD5 string `json:"typesMd5Checksum,omitempty"`
}

// Values for fields of a [Summary].
const (
	Version           = "2020-06-30"
	FormatDynamoDB    = "DYNAMODB_JSON"
	FullExport        = "FULL_EXPORT"
	IncrementalExport = "INCREMENTAL_EXPORT"
)

// Time formats a time for a [Summary].
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// TableName returns the name of the exported table.
func (s *Summary) TableName() string {
	_, name, _ := strings.Cut(s.TableArn, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// A DataFile describes a data file. It is a line of [FilesFile].
type DataFile struct {
	ItemCount     int64  `json:"itemCount"` // -1 if it is unknown
	MD5Checksum   string `json:"md5Checksum"`
	ETag          string `json:"etag"`
	DataFileS3Key string `json:"dataFileS3Key"`
}

// A Form is a layout of the JSON in manifests. Readers accept both forms.
type Form int

const (
	// Guided is the form in the developer guide. Members are in the order of the guide, and each member of the
	// summary is on a line of its own. The sortkey command writes it.
	Guided Form = iota
	// Sorted has members in alphabetical order and no white space. The operations of the service write it.
	Sorted
)

// Encode returns the contents of [SummaryFile].
func (s *Summary) Encode(form Form) ([]byte, error) {
	if form == Sorted {
		return sorted(s)
	}
	data, err := json.MarshalIndent(s, "", "  ")
	return append(data, '\n'), err
}

// Encode returns the line of f in [FilesFile].
func (f *DataFile) Encode(form Form) ([]byte, error) {
	encode := json.Marshal
	if form == Sorted {
		encode = sorted
	}
	line, err := encode(f)
	return append(line, '\n'), err
}

// sorted returns the JSON of a struct with its members in alphabetical order.
func sorted(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// ParseSummary reads the contents of [SummaryFile].
func ParseSummary(data []byte) (*Summary, error) {
	s := new(Summary)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	if s.TableArn == "" && s.OutputFormat == "" {
		return nil, errors.New("neither a table nor a format")
	}
	return s, nil
}

// A LineError is the number of an invalid line of [FilesFile], from 1.
type LineError int

// Error says which line it is.
func (e LineError) Error() string { return fmt.Sprintf("line %d is malformed", int(e)) }

// maxLine is the maximum length in bytes of a line of [FilesFile].
const maxLine = 1 << 20

// DataFiles yields the entries of [FilesFile]. It ends with an error at the first invalid line.
func DataFiles(data []byte) iter.Seq2[DataFile, error] {
	return func(yield func(DataFile, error) bool) {
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, maxLine)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			f := DataFile{ItemCount: -1}
			if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.DataFileS3Key == "" {
				yield(DataFile{}, LineError(n))
				return
			}
			if !yield(f, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(DataFile{}, err)
		}
	}
}
