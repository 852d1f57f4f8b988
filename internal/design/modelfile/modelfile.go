package modelfile

import (
	"bytes"
	_ "embed"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Load reads a model from a file. It returns [model.Errors] for an invalid model.
func Load(path string) (*model.Model, error) {
	data, err := files.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a model from YAML or JSON. File is the file name for places. For
// an invalid model it returns [model.Errors].
func Parse(file string, data []byte) (*model.Model, error) {
	p := &parser{file: file, m: &model.Model{}, declared: map[*model.Field]bool{}, broken: map[*model.Entity]bool{}}
	if root := p.document(data); root != nil {
		modelObject.read(p.at(root, "the model"), p.m)
	}
	if len(p.errs) > 0 {
		p.errs.Sort()
		for _, e := range p.errs {
			e.Msg, e.Hint = text.Clip(e.Msg, advice.MaxText), text.Clip(e.Hint, advice.MaxText)
		}
		return nil, p.errs
	}
	return p.m, nil
}

// Write writes the model as readable YAML, which [Parse] reads back to the same
// model. It adds comments that name the sections.
func Write(w io.Writer, m *model.Model) error {
	data, err := yaml.Dump(
		modelObject.write(m), yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble),
		yaml.WithCompactSeqIndent(false),
	)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of model files, for editors. It describes the
// structure; only [Parse] checks names.
func Schema() []byte { return bytes.Clone(schema) }

//go:embed starter.yaml
var starter []byte

// Starter returns a commented model to start from.
func Starter() []byte { return bytes.Clone(starter) }
