package modelfile

import (
	"bytes"
	_ "embed"
)

//go:embed model.schema.json
var schema []byte

//go:embed starter.yaml
var starter []byte

// Schema returns the JSON Schema of model files, for editors. It describes the
// structure; only [Parse] checks names.
func Schema() []byte { return bytes.Clone(schema) }

// Starter returns a commented model to start from.
func Starter() []byte { return bytes.Clone(starter) }
