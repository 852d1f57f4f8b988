// Package playground writes the page of a model as a folder of static files: the page itself, examples, and
// the engine, which answers the page in the browser. The engine is a program in WebAssembly. It is too large
// to be in the command, so [Build] compiles it.
package playground

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"html/template"
	"os"
	"path/filepath"
	"sync"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/live"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

//go:embed static templates
var files embed.FS

// templates are those of reports, with the playground's version of some parts.
var templates = sync.OnceValue(func() *template.Template { return report.Extend(files, "templates/*.html") })

// ModelName is the name of the model on the page.
const ModelName = "model.yaml"

// first is the example that the page begins with, and partition the one that its query reads.
const (
	first     = "file-tree"
	partition = "DRIVE#a91"
)

// maxItems is the number of items that the playground generates. The engine has one thread, and takes
// several times as long as the command.
const maxItems = 2000

// Options are those of the playground's server.
func Options() live.Options {
	return live.Options{
		World: world.Options{MaxItems: maxItems},
	}
}

// policy is the content security policy of the page. A worker from the same server has a policy of its own.
// Source: W3C, Content Security Policy Level 3.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'"

// Write writes the files of the playground into an existing folder.
func Write(ctx context.Context, folder string, e *Engine) error {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(e.Program); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}

	all := map[string][]byte{
		"engine.bin": packed.Bytes(), "wasm_exec.js": e.Runtime, "page.js": []byte(report.Script()),
	}
	if e.Licence != nil {
		all["wasm_exec.js.LICENSE"] = e.Licence
	}
	for _, name := range []string{"playground.js", "worker.js"} {
		if all[name], err = files.ReadFile("static/" + name); err != nil {
			return err
		}
	}
	for _, name := range examples.Names() {
		if _, all[filepath.Join("examples", name+".yaml")], err = examples.Read(name); err != nil {
			return err
		}
	}
	if err := addPage(ctx, all, packed.Len()); err != nil {
		return err
	}

	if err := os.MkdirAll(filepath.Join(folder, "examples"), 0o777); err != nil {
		return err
	}
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// addPage adds the page of the first example, which can be read while the engine is loaded, its style sheet,
// and its source, with which the engine starts. Size is that of the engine's file.
func addPage(ctx context.Context, all map[string][]byte, size int) error {
	_, data, err := examples.Read(first)
	if err != nil {
		return err
	}
	s, err := live.NewDraft(ctx, ModelName, string(data), nil, Options())
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		return err
	}

	shown := s.Page().LiveData(ModelName, s.Source().Text)
	shown.Form.Partition = partition
	shown.Kind, shown.Waits = "playground", true
	var page bytes.Buffer
	err = templates().ExecuteTemplate(&page, "live", struct {
		report.LiveData
		Policy     string
		EngineSize string
		Examples   []string
		Example    string
		MaxItems   int
	}{shown, policy, text.Size(size), examples.Names(), first, maxItems})
	if err != nil {
		return err
	}
	all["index.html"] = []byte(text.VisibleLines(page.String()))
	all["page.css"] = []byte(s.Page().Style())
	all["start.json"], err = json.Marshal(s.Source())
	return err
}
