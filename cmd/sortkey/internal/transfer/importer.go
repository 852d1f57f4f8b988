package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

type importer struct {
	o       ImportOptions
	client  *dynamodb.Client
	retry   *retrier
	sources []*Source
	schemas []*Schema // of the tables
	reading []ReadOptions
	result  *ImportResult
	journal journal
	kept    bool     // there is a journal in its file
	held    *os.File // the journal, locked
	report  *report
	total   int64
	before  int64 // bytes of the files that have been read
	items   int64
}

func (im *importer) run(ctx context.Context) error {
	defer im.release()
	if err := im.prepare(); err != nil {
		return err
	}
	err := im.runPrepared(ctx)
	if err != nil && im.kept {
		at := im.journal.At
		im.result.Journal = im.o.Journal
		im.result.File, im.result.Line = im.sources[at.Source].Files[at.File].Path, at.Line
	}
	return err
}

// release gives up the lock of the journal.
func (im *importer) release() {
	if im.held != nil {
		_ = im.held.Close() // it was written and synced
		im.held = nil
	}
}

func (im *importer) runPrepared(ctx context.Context) error {
	if err := im.verify(ctx); err != nil {
		return err
	}
	for i := range im.sources {
		if err := im.ensure(ctx, i); err != nil {
			return err
		}
	}
	if err := im.begun(); err != nil {
		return err
	}
	var err error
	if im.report, err = openReport(im.o.Rejects, im.journal.Bytes); err != nil {
		return err
	}
	if err := im.save(); err != nil {
		return fail("name another file with --journal, or do without: --no-journal", "the journal cannot be written: %w", err)
	}
	err = im.importAll(ctx)
	if im.kept {
		sum := (&ImportResult{Tables: im.journal.Tables}).Sum()
		switch {
		case err == nil:
			return os.Remove(im.o.Journal)
		case im.journal.At == position{} && sum.Read == 0: // nothing to go on from
			im.kept = false
			return errors.Join(err, os.Remove(im.o.Journal))
		}
	}
	return err
}

// prepare looks at the inputs and at the journal of an earlier import.
func (im *importer) prepare() error {
	im.journal = journal{Version: journalVersion, Target: im.o.Target, Options: im.options()}
	regular := true
	for _, s := range im.sources {
		name, err := im.table(s)
		if err != nil {
			return err
		}
		js := journalSource{Table: name}
		for _, f := range s.Files {
			if ionName(f.Path) {
				return errIonFile(f.Path)
			}
			id, ok, err := identify(f.Path)
			if err != nil {
				return err
			}
			for _, out := range []string{im.o.Rejects, im.o.Journal} {
				if abs, err := filepath.Abs(out); err == nil && out != "" && abs == id.Path {
					return fail("name another file", "%s is an input and would be written over", out)
				}
			}
			regular = regular && ok
			im.total += id.Size
			js.Files = append(js.Files, id)
		}
		im.journal.Sources = append(im.journal.Sources, js)
		im.journal.Tables = append(im.journal.Tables, TableResult{Table: name})
	}
	if !regular {
		im.total = 0
		if im.o.Resume {
			return fail("put the input into a file", "an import from a pipe cannot be gone on with")
		}
		im.o.Journal = ""
	}
	if im.o.Journal == "" {
		return nil
	}
	if a, err := filepath.Abs(im.o.Journal); err == nil && im.o.Rejects != "" {
		if b, err := filepath.Abs(im.o.Rejects); err == nil && a == b {
			return fail("name two files", "%s cannot be both journal and report", im.o.Journal)
		}
	}
	old, err := im.interrupted()
	if err != nil || old == nil {
		return err
	}
	return im.resume(old)
}

// interrupted locks and returns the journal of an earlier import, if there is
// one. It is an error unless the import is to go on or to start over.
func (im *importer) interrupted() (old *journal, err error) {
	if im.held, err = lockJournal(im.o.Journal); err != nil {
		return nil, err
	}
	old, err = readJournal(im.o.Journal, im.o.Restart)
	if err == nil && old != nil && !im.o.Resume {
		at := old.Sources[old.At.Source].Files[old.At.File].Path
		err = fail("go on with --resume, or start over with --restart", "an import of this was interrupted after line %d of %s (%s)", old.At.Line, at, im.o.Journal)
	}
	return old, err
}

// begun refuses a journal that was made since prepare found none: another
// import began meanwhile.
func (im *importer) begun() error {
	if im.o.Journal == "" || im.kept || im.held != nil {
		return nil
	}
	old, err := im.interrupted()
	if err == nil && old != nil {
		err = fail("start it again", "another import with the journal %s was interrupted meanwhile", im.o.Journal)
	}
	return err
}

// resume takes over an earlier journal if it is of the same import.
func (im *importer) resume(old *journal) error {
	const hint = "start over with --restart"
	switch {
	case old.Target != im.o.Target:
		return fail(hint, "the interrupted import wrote to %s, not to %s", old.Target, im.o.Target)
	case old.Options != im.journal.Options:
		return fail("give the same options, or "+hint, "the interrupted import was read with other options: %s", old.Options)
	case len(old.Sources) != len(im.journal.Sources) || len(old.Tables) != len(old.Sources):
		return fail(hint, "the interrupted import had other inputs")
	}
	for i, s := range im.journal.Sources {
		was := old.Sources[i]
		if was.Table != s.Table || len(was.Files) != len(s.Files) {
			return fail(hint, "the interrupted import had other inputs")
		}
		for n, f := range s.Files {
			if w := was.Files[n]; w.Path != f.Path || w.Size != f.Size || w.Head != f.Head || !w.Modified.Equal(f.Modified) {
				return fail(hint, "%s has changed since the import was interrupted", f.Path)
			}
		}
	}
	if old.Bytes > 0 {
		im.o.Rejects = old.Report
	}
	im.journal, im.kept = *old, true
	return nil
}

// options are what the meaning of the input depends on, as text.
func (im *importer) options() string {
	o := im.o.withDefaults("")
	var text strings.Builder
	text.WriteString(fmt.Sprintf("format=%s", o.Format))
	for t := range strings.SplitSeq(o.Types.text(), "\n") {
		if t != "" {
			text.WriteString(" type " + t)
		}
	}
	if im.o.Delimiter != 0 {
		text.WriteString(fmt.Sprintf(" delimiter=%q", im.o.Delimiter))
	}
	if im.o.Columns != nil {
		text.WriteString(fmt.Sprintf(" columns=%q", im.o.Columns))
	}
	if o.MaxLine != DefaultMaxLine {
		text.WriteString(fmt.Sprintf(" max-line=%d", o.MaxLine))
	}
	return text.String()
}

// table returns the name of a source's table.
func (im *importer) table(s *Source) (string, error) {
	switch {
	case im.o.Table != "" && len(im.sources) > 1:
		return "", fail("import one after the other", "one --table cannot be that of %d sources", len(im.sources))
	case im.o.Table != "":
		return im.o.Table, nil
	case im.o.Schema != nil && im.o.Schema.TableName != "":
		return im.o.Schema.TableName, nil
	case s.Table != "":
		return s.Table, nil
	}
	return "", fail("name it with --table", "nothing tells the table for %s", s.Name)
}

// verify holds all files to their checksums before anything is written.
func (im *importer) verify(ctx context.Context) error {
	if im.o.NoVerify {
		return nil
	}
	for _, s := range im.sources {
		if sum := s.sum(); s.Items >= 0 && sum >= 0 && sum != s.Items {
			return fail("copy the export again, or import without checks: --no-verify",
				"%s is damaged: it says that there are %d items, and its files have %d; nothing was written", s.Name, s.Items, sum)
		}
	}
	p := Progress{Phase: "verify"}
	for i, s := range im.sources {
		for n, f := range s.Files {
			if f.MD5 == "" || im.done(i, n) {
				continue
			}
			p.Total += im.journal.Sources[i].Files[n].Size
		}
	}
	for i, s := range im.sources {
		for n, f := range s.Files {
			if f.MD5 == "" || im.done(i, n) {
				continue
			}
			if err := verify(ctx, f, func(n int) {
				p.Bytes += int64(n)
				im.progress(p)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// done reports whether an earlier import has been through a file.
func (im *importer) done(source, file int) bool {
	at := im.journal.At
	return source < at.Source || source == at.Source && file < at.File
}

func (im *importer) progress(p Progress) {
	if im.o.Progress != nil {
		im.o.Progress(p)
	}
}

// save writes the journal.
func (im *importer) save() error {
	if im.o.Journal == "" {
		return nil
	}
	im.journal.Report, im.journal.Bytes = "", im.report.size
	if im.report.size > 0 {
		abs, err := filepath.Abs(im.report.path)
		if err != nil {
			return err
		}
		im.journal.Report = abs
	}
	held, err := im.journal.write(im.o.Journal)
	if err != nil {
		return err
	}
	im.release()
	im.held, im.kept = held, true
	return nil
}

func (im *importer) importAll(ctx context.Context) error {
	// Writes under way end in their own time when ctx does.
	writes, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		if sleep(writes, im.o.Grace) == nil {
			cancel(context.Cause(ctx))
		}
	})
	defer stop()
	for i, s := range im.sources {
		if i < im.journal.At.Source {
			for _, f := range im.journal.Sources[i].Files {
				im.before += f.Size
			}
			continue
		}
		if err := im.importSource(ctx, writes, i, s); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) importSource(ctx, writes context.Context, i int, s *Source) error {
	schema := im.schemas[i]
	opts := im.reading[i]
	table := im.journal.Tables[i].Table
	p := startPipeline(writes, im.retry, table, schema.keys(), im.o.Workers)
	defer p.close()
	for n, f := range s.Files {
		if !im.done(i, n) {
			at := position{Source: i, File: n}
			if im.journal.At.Source == i && im.journal.At.File == n {
				at = im.journal.At
			}
			if err := im.importFile(ctx, p, at, f, opts); err != nil {
				return err
			}
		}
		im.before += im.journal.Sources[i].Files[n].Size
	}
	return nil
}

// importFile imports a file from a position on.
func (im *importer) importFile(ctx context.Context, p *pipeline, at position, f File, opts ReadOptions) error {
	in, err := openInput(f.Path)
	if _, system := errors.AsType[*os.PathError](err); err != nil && system {
		return err
	}
	if err != nil {
		return im.broken(p, f, at, err)
	}
	defer func() {
		im.result.Bytes += in.packed.Load()
		_ = in.Close()
	}()
	r, err := openReader(in, f, opts, p.keys)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return e
		}
		return im.broken(p, f, at, err)
	}
	if err := r.Skip(at.Records); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	table := &im.journal.Tables[at.Source]
	last := at.Records
	var key []byte
	for {
		if ctx.Err() != nil {
			stop := context.Cause(ctx)
			if err := im.checkpoint(p, at); err != nil && !errors.Is(err, stop) {
				return errors.Join(stop, err)
			}
			return stop
		}
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return im.broken(p, f, at, err)
		}
		here := Reject{File: f.Path, Line: rec.Line, order: r.Count()}
		if rec.Err == nil {
			key, rec.Err = p.keys.appendKey(key[:0], rec.Item)
		}
		if rec.Err != nil {
			here.Reason = reason(rec.Err)
			p.reject(here)
		} else if err := p.put(entry{item: rec.Item, remove: rec.Delete, key: string(key), at: here, size: len(rec.Item)}, key); err != nil {
			return im.settle(p, at.Source)
		}
		im.items++
		im.result.Read++
		table.Read++
		at.Records, at.Line = r.Count(), rec.Line
		if im.items%256 == 0 {
			im.progress(Progress{Phase: "import", Bytes: im.before + in.packed.Load(), Total: im.total, Items: im.items})
		}
		if at.Records-last >= im.o.Every {
			if err := im.checkpoint(p, at); err != nil {
				return err
			}
			last = at.Records
		}
	}
	if f.Items >= 0 && r.Count() != f.Items && !im.o.NoVerify {
		return im.broken(p, f, at, refusef("the manifest says that it has %d items, but it has %d", f.Items, r.Count()))
	}
	im.progress(Progress{Phase: "import", Bytes: im.before + in.packed.Load(), Total: im.total, Items: im.items})
	return im.checkpoint(p, at)
}

// broken ends a file that cannot be read further: what came before is written,
// and the report tells of the rest.
func (im *importer) broken(p *pipeline, f File, at position, err error) error {
	r := Reject{File: f.Path, Line: at.Line, Reason: reason(err)}
	if _, whole := errors.AsType[*recordError](err); !whole {
		r.Reason += "; nothing after this line was read"
	}
	if err := im.settle(p, at.Source); err != nil {
		return err
	}
	im.journal.Broken = append(im.journal.Broken, r)
	if err := im.report.add([]Reject{r}); err != nil {
		return err
	}
	im.journal.At = at
	return im.save()
}

// checkpoint waits until everything before a position is written and notes it.
func (im *importer) checkpoint(p *pipeline, at position) error {
	if err := im.settle(p, at.Source); err != nil {
		return err
	}
	im.journal.At = at
	return im.save()
}

// settle waits for the writes and adds up what became of them.
func (im *importer) settle(p *pipeline, source int) error {
	rejects, written, deleted, err := p.barrier()
	t := &im.journal.Tables[source]
	t.Written += written
	t.Deleted += deleted
	t.Rejected += int64(len(rejects))
	if n := firstRejects - len(im.result.First); n > 0 {
		im.result.First = append(im.result.First, rejects[:min(n, len(rejects))]...)
	}
	return errors.Join(err, im.report.add(rejects))
}
