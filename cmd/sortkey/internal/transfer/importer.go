package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/text"
)

type importer struct {
	o           ImportOptions
	retry       *retrier
	sources     []*Source
	schemas     []*tabledef.Schema // of the tables
	readOptions []ReadOptions
	result      *ImportResult
	journal     journal
	file        *os.File // the journal, open and locked, or nil
	found       bool     // the file existed before; it may be the journal of an interrupted import, or no journal
	saved       bool     // this import can be resumed
	report      *report
	total       int64 // bytes in all files, 0 if unknown
	before      int64 // bytes in the files before the current one
	items       int64
}

func (im *importer) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, im.closeJournal(err)) }()
	if err := im.prepare(); err != nil {
		return err
	}
	if im.report, err = openReport(im.o.Rejects); err != nil {
		return err
	}
	im.report.limit, im.report.unreported = im.o.RejectsBytes, im.journal.Unreported
	if err := im.verify(ctx); err != nil {
		return err
	}
	for i := range im.sources {
		if err := im.ensure(ctx, i); err != nil {
			return err
		}
	}
	if err := im.report.cut(im.journal.Report); err != nil {
		return err
	}
	if im.file != nil {
		im.saved = true
		if err := errors.Join(im.record(im.journal), SyncFolder(filepath.Dir(im.o.Journal))); err != nil {
			return fail(ErrJournal, "", "cannot write the journal: %w", err)
		}
	}
	return im.importAll(ctx)
}

// closeJournal unlocks the journal. It also removes the journal if the import is complete, or if a new import has
// failed before it read a record.
func (im *importer) closeJournal(err error) error {
	if im.file == nil {
		return nil
	}
	at, sum := im.journal.At, (&ImportResult{Tables: im.journal.Tables}).Sum()
	if err == nil || !im.found && at == (position{}) && sum.Read == 0 {
		return unlockBefore(im.file, func() error { return os.Remove(im.o.Journal) })
	}
	if im.saved {
		im.result.Journal = im.o.Journal
		im.result.File, im.result.Line = im.sources[at.Source].Files[at.File].Path, at.Line
	}
	return unlock(im.file)
}

// prepare identifies the inputs and reads the journal of an interrupted import.
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
			id, ok, err := identify(f.Path)
			if err != nil {
				return err
			}
			for _, out := range []string{im.o.Rejects, im.o.Journal} {
				if abs, err := filepath.Abs(out); err == nil && out != "" && abs == id.Path {
					return advice.New("name another file", "%s is an input and would be overwritten", out)
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
			return advice.New("put the input into a file", "an import from a pipe cannot be resumed")
		}
		im.o.Journal = ""
	}

	if im.o.Journal == "" {
		return nil
	}
	if a, err := filepath.Abs(im.o.Journal); err == nil && im.o.Rejects != "" {
		if b, err := filepath.Abs(im.o.Rejects); err == nil && a == b {
			return advice.New("name two files", "%s cannot be both the journal and the report", im.o.Journal)
		}
	}

	var err error
	im.found = true // if readJournal fails, closeJournal must not remove the file
	if im.file, err = openJournal(im.o.Journal); err != nil {
		return err
	}
	old, err := readJournal(im.file, im.o.Restart)
	if err != nil {
		return err
	}
	if im.found = old != nil; !im.found {
		return nil
	}
	if !im.o.Resume {
		return fail(
			ErrInterrupted, "", "this import was interrupted after line %d of %s (journal %s)", old.At.Line,
			old.Sources[old.At.Source].Files[old.At.File].Path, im.o.Journal,
		)
	}
	return im.resume(old)
}

// resume continues from the state in old, the journal of the interrupted import. It returns an error if the target,
// the options or the inputs of that import were different.
func (im *importer) resume(old *journal) error {
	switch {
	case old.Target != im.o.Target:
		return fail(ErrRestart, "", "the interrupted import wrote to %s, not to %s", old.Target, im.o.Target)
	case old.Options != im.journal.Options:
		return fail(ErrRestart, "give the same options", "the interrupted import had other options: %s", old.Options)
	case len(old.Sources) != len(im.journal.Sources) || len(old.Tables) != len(old.Sources):
		return fail(ErrRestart, "", "the interrupted import had other inputs")
	}

	for i, s := range im.journal.Sources {
		was := old.Sources[i]
		switch {
		case was.Table != s.Table:
			return fail(
				ErrRestart, "resume it with --table "+was.Table, "the interrupted import wrote to table %s, not to %s",
				was.Table, s.Table,
			)
		case len(was.Files) != len(s.Files):
			return fail(ErrRestart, "", "the interrupted import had other inputs")
		}
		for n, f := range s.Files {
			w := was.Files[n]
			if w.Path != f.Path || w.Size != f.Size || !w.Modified.Equal(f.Modified) {
				return fail(ErrRestart, "", "%s has changed since the import was interrupted", f.Path)
			}
		}
	}

	im.journal, im.saved = *old, true
	return nil
}

// options returns as text those options that change how an import reads its input. The journal contains the text, so
// that resume can compare it.
func (im *importer) options() string {
	o := im.o.withDefaults("")
	text := "format=" + string(o.Format)
	for _, name := range slices.Sorted(maps.Keys(o.Types)) {
		text += " type " + name + "=" + o.Types[name]
	}
	if im.o.Delimiter != 0 {
		text += fmt.Sprintf(" delimiter=%q", im.o.Delimiter)
	}
	if im.o.Columns != nil {
		text += fmt.Sprintf(" columns=%q", im.o.Columns)
	}
	return text
}

// table returns the name of the table to which the import writes a source.
func (im *importer) table(s *Source) (string, error) {
	others := 0 // sources that are not requests; for requests, Discover has already selected the table
	for _, s := range im.sources {
		if !s.requests {
			others++
		}
	}

	switch {
	case im.o.Table != "" && others > 1:
		return "", advice.New("import one source at a time", "cannot import %d sources into one table", len(im.sources))
	case im.o.Table != "":
		return im.o.Table, nil
	case im.o.Schema != nil && im.o.Schema.TableName != "" && s.requests && s.Table != "" &&
		s.Table != im.o.Schema.TableName:
		return "", advice.New(
			"import the writes to one table with --table", "%s: %w; the definition is of table %s", s.Name,
			errOtherTable(s.Table, im.o.Schema.TableName), im.o.Schema.TableName,
		)
	case im.o.Schema != nil && im.o.Schema.TableName != "":
		return im.o.Schema.TableName, nil
	case s.Table != "":
		return s.Table, nil
	}
	return "", fail(ErrNoName, "", "no table name for %s", s.Name)
}

// verify compares the counts of all exports, and the MD5 of each file that has one and is still to be imported, with
// the manifests. It does so before this run writes anything.
func (im *importer) verify(ctx context.Context) error {
	for _, s := range im.sources {
		if sum := s.sum(); s.Items >= 0 && sum >= 0 && sum != s.Items {
			return fail(
				nil, "copy the export again",
				"%s is damaged: its summary counts %s, its files have %d; nothing was written",
				s.Name, text.Count(s.Items, "item"), sum,
			)
		}
	}

	p := Progress{Phase: "verify", Total: im.total}
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

// done reports whether the interrupted import has finished a file.
func (im *importer) done(source, file int) bool {
	at := im.journal.At
	return source < at.Source || source == at.Source && file < at.File
}

func (im *importer) progress(p Progress) {
	if im.o.Progress != nil {
		im.o.Progress(p)
	}
}

// save records a checkpoint.
func (im *importer) save(at position) error {
	im.journal.At, im.journal.Table = at, im.journal.Tables[at.Source]
	im.journal.Report, im.journal.Unreported = im.report.size, im.report.unreported
	return im.record(im.journal.checkpoint)
}

// writing returns the context for writes. After ctx has ended, writes continues for the time Grace, so that requests
// in progress can finish.
func (im *importer) writing(ctx context.Context) (writes context.Context, end func()) {
	writes, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(im.o.Grace, func() { cancel(context.Cause(ctx)) })
	})
	return writes, func() {
		stop()
		cancel(nil)
	}
}

func (im *importer) importAll(ctx context.Context) error {
	writes, end := im.writing(ctx)
	defer end()
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
	opts := im.readOptions[i]
	p, err := im.pipeline(writes, i)
	if err != nil {
		return err
	}
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

// pipeline starts the pipeline for source i.
func (im *importer) pipeline(ctx context.Context, i int) (*pipeline, error) {
	table := im.journal.Tables[i].Table
	send := &sender{im.retry, table, im.o.Workers}
	if im.o.DB != nil {
		b, err := engine.Of(im.o.DB).Service.Bulk(table)
		if err != nil {
			return nil, err
		}
		if b.Loads() {
			return startPipeline(ctx, b, send, keysOf(im.schemas[i]), im.o.Every), nil
		}
	}
	return startPipeline(ctx, nil, send, keysOf(im.schemas[i]), im.o.Every), nil
}

// importFile imports the records of a file after the position at.
func (im *importer) importFile(ctx context.Context, p *pipeline, at position, f File, opts ReadOptions) error {
	in, err := openInput(f.Path)
	if _, system := errors.AsType[*os.PathError](err); err != nil && system {
		return err
	}
	if err != nil {
		return im.broken(p, f, at, err)
	}
	defer in.Close()
	return im.importInput(ctx, p, at, f, in, opts)
}

// importInput imports the records of an open file after the position at.
func (im *importer) importInput(
	ctx context.Context, p *pipeline, at position, f File, in *input, opts ReadOptions,
) error {
	defer func() { im.result.Bytes += in.packed.Load() }()
	r, err := im.openReader(in, f, opts, keysOf(im.schemas[at.Source]))
	if err != nil {
		if _, ok := errors.AsType[*advice.Error](err); ok {
			return err
		}
		return im.broken(p, f, at, err)
	}
	if err := r.Skip(at.Records); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return im.importRecords(ctx, p, in, f, r, at)
}

// end handles the end of a file. It compares the number of records with the manifest, and saves a checkpoint.
func (im *importer) end(p *pipeline, in *input, f File, r *Reader, at position) error {
	if f.Items >= 0 && r.Count() != f.Items {
		return im.broken(p, f, at, rejectf("file has %s, the manifest says %d", text.Count(r.Count(), "item"), f.Items))
	}
	im.progress(Progress{Phase: "import", Bytes: im.before + in.packed.Load(), Total: im.total, Items: im.items})
	return im.checkpoint(p, at)
}

// broken handles a file that the import cannot read after the position at. It writes the records before that
// position, and adds the error to the report.
func (im *importer) broken(p *pipeline, f File, at position, err error) error {
	r := Reject{File: f.Path, Line: at.Line, Reason: reason(err)}
	if _, complete := errors.AsType[*recordError](err); !complete {
		r.Reason += "; nothing after this line was read"
	}
	if err := im.settle(p, at.Source); err != nil {
		return err
	}
	im.journal.Broken = append(im.journal.Broken, r)
	if err := im.report.add([]Reject{r}); err != nil {
		return err
	}
	return im.save(at)
}

// checkpoint writes all records before a position, and then saves the position in the journal.
func (im *importer) checkpoint(p *pipeline, at position) error {
	if err := im.settle(p, at.Source); err != nil {
		return err
	}
	return im.save(at)
}

// settle writes the blocks that are ready, counts the results, and reports rejected records.
func (im *importer) settle(p *pipeline, source int) error {
	rejects, written, deleted, err := p.write()
	t := &im.journal.Tables[source]
	t.Written += written
	t.Deleted += deleted
	t.Rejected += int64(len(rejects))
	if n := firstRejects - len(im.result.First); n > 0 {
		im.result.First = append(im.result.First, rejects[:min(n, len(rejects))]...)
	}
	return errors.Join(err, im.report.add(rejects))
}
