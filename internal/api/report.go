package api

import (
	"encoding/json"
	"os"
	"path"
	"strings"
)

const (
	// reportBytes is the size limit of a report, the same as in the command's imports.
	reportBytes = 64 << 20
	// reportText is the length of the longest text of an error in a report.
	reportText = 500
	// reportBuffer is how many bytes a report collects before it writes them.
	reportBuffer = 64 << 10
)

// A report is a file of the lines that a job did not write, as a JSON object each. It has
// a size limit; lines after that are only counted.
//
// A report can be taken back to an earlier state, and a killed job continues in the state
// that its record has: the rest of the file is overwritten, or cut off when the job ends.
// It is durable when the job has ended; if the computer fails before that, lines may be
// missing from it.
type report struct {
	reportState
	root    *os.Root
	name    string
	f       *os.File // nil until there is something to report
	pending []byte   // the last of Bytes
}

// A reportState is the part of a report that the record of a job keeps.
type reportState struct {
	Bytes      int64
	Unreported int64 `json:",omitempty"`
}

// add adds a line, with the input that was refused, or nil for what is said of the report
// itself.
func (r *report) add(input []byte, code, message string) error {
	if input != nil && r.full(len(input)) {
		r.Unreported++
		return nil
	}
	if len(message) > reportText {
		message = strings.ToValidUTF8(message[:reportText], "") + "…"
	}
	begin := len(r.pending)
	r.pending = append(r.pending, '{')
	switch {
	case input == nil:
	case json.Valid(input):
		r.pending = append(append(append(r.pending, `"Input":`...), input...), ',')
	default:
		r.pending = append(appendQuoted(append(r.pending, `"Input":`...), string(input)), ',')
	}

	r.pending = appendQuoted(append(r.pending, `"ErrorCode":`...), code)
	r.pending = appendQuoted(append(r.pending, `,"ErrorMessage":`...), message)
	r.pending = append(r.pending, "}\n"...)
	if n := len(r.pending) - begin; input != nil && r.full(n) {
		r.pending = r.pending[:begin]
		r.Unreported++
	} else {
		r.Bytes += int64(n)
	}

	if len(r.pending) < reportBuffer {
		return nil
	}
	return r.write()
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(dst []byte, text string) []byte {
	quoted, _ := json.Marshal(text) // a string always has a form in JSON
	return append(dst, quoted...)
}

// full reports whether a line of a length is only counted. So are all lines after it, so
// that the report has the first ones.
func (r *report) full(length int) bool {
	return r.Unreported > 0 || r.Bytes+int64(length) > reportBytes
}

func (r *report) write() error {
	if len(r.pending) == 0 {
		return nil
	}
	if r.f == nil {
		if err := r.root.MkdirAll(path.Dir(r.name), 0o755); err != nil {
			return inBucket(err)
		}
		f, err := r.root.OpenFile(r.name, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return inBucket(err)
		}
		r.f = f
	}
	_, err := r.f.WriteAt(r.pending, r.Bytes-int64(len(r.pending)))
	if r.pending = r.pending[:0]; cap(r.pending) > 2*reportBuffer {
		r.pending = nil
	}
	return inBucket(err)
}

// sync writes the pending lines and makes the report durable.
func (r *report) sync() error {
	err := r.write()
	if err == nil && r.f != nil {
		err = inBucket(r.f.Sync())
	}
	return err
}

// rewind takes the report back to a state in which nothing was pending.
func (r *report) rewind(to reportState) { r.reportState, r.pending = to, r.pending[:0] }

// close cuts off bytes that do not belong to the report.
func (r *report) close() error {
	if r.f == nil {
		return nil
	}
	err := r.f.Truncate(r.Bytes)
	if closed := r.f.Close(); err == nil {
		err = closed
	}
	return inBucket(err)
}
