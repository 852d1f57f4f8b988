package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble reads a log up to the first chunk that is not valid. It takes that chunk for the end, where a crash cut off
// the last write, unless a later chunk says that the place had been synced. But the later chunk may know only of an
// earlier sync than the last one. So Pebble would take damage near the end for a crash, and silently drop
// acknowledged updates.
//
// Therefore every update begins with a mark, which says how much of the log was durable before it, and checkLogs
// compares the marks with the valid part of the log.
//
// A chunk is, in little endian,
//
//	checksum uint32 | length uint16 | encoding byte | log uint32 | synced uint64 | payload
//
// where the checksum covers everything from the encoding on. Source: record/record.go of Pebble 2.1.
const (
	logBlock  = 32 << 10
	chunkHead = 19
	fullChunk = 9 // a whole batch
	headChunk = 10
	lastChunk = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readChunk returns the encoding, the payload and the end of the chunk that begins at the offset at. It returns false
// if no valid chunk of this log begins there.
func readChunk(data []byte, at int, log uint32) (encoding byte, payload []byte, end int, ok bool) {
	block := min(len(data), (at/logBlock+1)*logBlock)
	if at+chunkHead > block {
		return 0, nil, 0, false
	}
	h := data[at:]
	encoding = h[6]
	end = at + chunkHead + int(binary.LittleEndian.Uint16(h[4:]))
	if encoding < fullChunk || encoding > lastChunk || binary.LittleEndian.Uint32(h[7:]) != log || end > block {
		return 0, nil, 0, false
	}
	sum := crc32.Checksum(data[at+6:end], castagnoli)
	if sum = sum>>15 | sum<<17; sum+0xa282ead8 != binary.LittleEndian.Uint32(h) {
		return 0, nil, 0, false
	}
	return encoding, data[at+chunkHead : end], end, true
}

// nextChunk returns where the next chunk begins after a chunk with the given end.
func nextChunk(end int) int {
	if rest := logBlock - end%logBlock; rest < chunkHead {
		return end + rest // too few bytes left for a chunk
	}
	return end
}

// A mark says that a log was durable up to a position.
type mark struct {
	log uint32
	end uint64
}

func (m mark) append(b []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(m.log)), m.end)
}

// readMark returns the mark at the beginning of a batch, if there is one. A batch begins with a head of 12 bytes. The
// mark follows as a record: the kind 3, the length of the mark, and the mark. Source: batchrepr and Batch.LogData of
// Pebble 2.1.
func readMark(batch []byte) (m mark, ok bool) {
	const head, logData = 12, 3
	if len(batch) < head+2 || batch[head] != logData || len(batch) < head+2+int(batch[head+1]) {
		return m, false
	}
	b := batch[head+2:][:batch[head+1]]
	log, n := binary.Uvarint(b)
	if n <= 0 {
		return m, false
	}
	end, k := binary.Uvarint(b[n:])
	return mark{uint32(log), end}, k > 0 && n+k == len(b)
}

// maxMark is the most bytes from the beginning of a batch that readMark needs.
const maxMark = 12 + 2 + 2*binary.MaxVarintLen64

// logEnd returns where the valid part of a log ends. Damaged is true if a mark after the end says that more of the
// log was durable.
func logEnd(data []byte, log uint32) (end int, damaged bool) {
	for {
		_, _, next, ok := readChunk(data, nextChunk(end), log)
		if !ok {
			break
		}
		end = next
	}
	for i := end + 1; i+chunkHead <= len(data); i++ {
		encoding, payload, next, ok := readChunk(data, i, log)
		if !ok || encoding != fullChunk && encoding != headChunk {
			continue
		}
		if len(payload) < maxMark && encoding == headChunk {
			_, more, _, _ := readChunk(data, nextChunk(next), log)
			payload = slices.Concat(payload, more)
		}
		if m, ok := readMark(payload); ok && m.log == log && m.end > uint64(end) {
			return end, true
		}
	}
	return end, false
}

// checkLogs returns an error if acknowledged updates are missing from the logs that SORTKEY lists. If the options
// accept loss, it cuts a damaged log off where the damage begins instead, and writes to the store's Logger which
// updates are lost.
func (s *Store) checkLogs(names []string) error {
	fsys := s.opts.fs
	for _, name := range names {
		num, err := logNumber(name)
		if err != nil {
			return fmt.Errorf("the file %s lists a log, but %w", metaName, err)
		}
		data, err := readFile(fsys, fsys.PathJoin(s.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}

		lost := ""
		end, damaged := logEnd(data, num)
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
