package modelfile

import (
	"bytes"
	_ "embed"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// Load reads a model from a file. It returns [model.Errors] for an invalid model.
func Load(path string) (*model.Model, error) {
	data, err := files.Read(path, maxFileBytes)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a model from YAML or JSON. File is the file name that errors show. For an invalid model it returns
// [model.Errors].
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

// Write writes the model as readable YAML with a comment for each section. [Parse] reads back an equal model.
func Write(w io.Writer, m *model.Model) error {
	data, err := dump(modelObject.write(m))
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func dump(n *yaml.Node) ([]byte, error) {
	return yaml.Dump(
		n, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble), yaml.WithCompactSeqIndent(false),
	)
}

// FieldText returns the description of a field's values as a model file writes it, on one line.
func FieldText(f *model.Field) string {
	n := fieldObject.write(f)
	if n == nil {
		return keys.Type{}.String()
	}
	data, _ := dump(n) // cannot fail, because FieldText made the nodes itself
	return strings.TrimSpace(string(data))
}

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of model files for editors. It describes the structure. Only [Parse] checks that
// names exist.
func Schema() []byte { return bytes.Clone(schema) }

//go:embed starter.yaml
var starter []byte

// Starter returns an example model with comments, as a start for a new one.
func Starter() []byte { return bytes.Clone(starter) }
