package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// A recordFile is the file of --kinesis.
type recordFile struct {
	log *slog.Logger

	mu  sync.Mutex
	out *os.File
}

func openRecords(name string, log *slog.Logger) (*recordFile, error) {
	out, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--kinesis: %w", err)
	}
	return &recordFile{log: log, out: out}, nil
}

func (f *recordFile) close() { _ = f.out.Close() } // each line has been written

// A recordLine is a line of the file.
type recordLine struct {
	AccessKey string          `json:"accessKey,omitempty"` // with --isolate, if there is one
	StreamARN string          `json:"streamARN"`
	Data      json.RawMessage `json:"data"`
}

// writer returns a function that appends a line for each record of the database of an
// access key, or of the server's own database.
func (f *recordFile) writer(key string) func(arn string, record []byte) {
	return func(arn string, record []byte) {
		line, err := json.Marshal(recordLine{key, arn, record})
		if err == nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			_, err = f.out.Write(append(line, '\n'))
		}
		if err != nil {
			f.log.Error("cannot write to the file of --kinesis", "error", err)
		}
	}
}
