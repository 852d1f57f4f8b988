package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble reads a log up to the first chunk that is not valid. It takes that for
// the end, where a crash cut off the last write, unless a chunk in a later block
// of 32 KiB says that the place had been synced. So damage in the last block, in
// a log that has lost its end, or of a whole log would pass for a crash, and
// acknowledged updates would be gone without a word. checkLogs finds it first.
//
// A chunk is, in little endian,
//
//	checksum uint32 | length uint16 | encoding byte | log uint32 | synced uint64 | payload
//
// where the checksum is of everything from the encoding on, and synced is how
// much of the log was durable when the chunk was written. Source:
// record/record.go of Pebble 2.1.
const (
	logBlock       = 32 << 10
	chunkHead      = 19
	firstSyncChunk = 9 // encodings of chunks with synced
	lastSyncChunk  = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A chunk is a valid chunk of a log.
type chunk struct {
	end    int
	synced uint64
}

// readChunk returns the chunk of a log at a position.
func readChunk(data []byte, at int, log uint32) (c chunk, ok bool) {
	block := min(len(data), (at/logBlock+1)*logBlock)
	if at+chunkHead > block {
		return c, false
	}
	h := data[at:]
	encoding := h[6]
	c.end = at + chunkHead + int(binary.LittleEndian.Uint16(h[4:]))
	if encoding < firstSyncChunk || encoding > lastSyncChunk || binary.LittleEndian.Uint32(h[7:]) != log || c.end > block {
		return c, false
	}
	sum := crc32.Checksum(data[at+6:c.end], castagnoli)
	if sum = sum>>15 | sum<<17; sum+0xa282ead8 != binary.LittleEndian.Uint32(h) {
		return c, false
	}
	c.synced = binary.LittleEndian.Uint64(h[11:])
	return c, true
}

// logEnd returns where the valid part of a log ends, and whether anything that
// was durable follows.
func logEnd(data []byte, log uint32) (end int, damaged bool) {
	at := 0
	for at < len(data) {
		c, ok := readChunk(data, at, log)
		if !ok {
			if rest := (at/logBlock+1)*logBlock - at; rest < chunkHead {
				at += rest // too little room for a chunk
				continue
			}
			break
		}
		at = c.end
	}
	for i := at + 1; i+chunkHead <= len(data); i++ {
		if c, ok := readChunk(data, i, log); ok && c.synced > uint64(at) {
			return at, true
		}
	}
	return at, false
}

// checkLogs returns an error if updates that were acknowledged are missing from
// the logs of the folder, which SORTKEY lists. If loss is accepted, it cuts a log
// off where it is damaged instead, and says so in the store's log.
func (s *Store) checkLogs(names []string) error {
	fsys := s.opts.FS
	for _, name := range names {
		data, err := readFile(fsys, fsys.PathJoin(s.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		num, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 32)
		if err != nil {
			return fmt.Errorf("the file %s lists %q, which is not a log", metaName, name)
		}
		lost := ""
		end, damaged := logEnd(data, uint32(num))
		switch {
		case len(data) == 0:
			lost = "is missing or empty"
		case damaged:
			lost = fmt.Sprintf("is damaged after byte %d of %d", end, len(data))
		default:
			s.fs.logs = append(s.fs.logs, name)
			continue
		}
		if !s.opts.AcceptLoss {
			return fmt.Errorf("%w: the log %s %s", ErrLoss, name, lost)
		}
		s.opts.Logger.Error("updates were lost", "dir", s.dir, "log", name, "byte", end, "of", len(data))
		if damaged && !s.opts.ReadOnly {
			if err := replaceFile(fsys, s.dir, name, data[:end]); err != nil {
				return err
			}
			s.fs.logs = append(s.fs.logs, name)
		}
	}
	s.fs.listed = true
	return nil
}

func readFile(fsys vfs.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}
