package design

import (
	"bytes"
	_ "embed"
)

//go:embed model.schema.json
var schema []byte

//go:embed starter.yaml
var starter []byte

// Schema returns the JSON Schema of model files, for editors. It knows the
// structure; what names mean is [Parse]'s to say.
func Schema() []byte { return bytes.Clone(schema) }

// Starter returns a commented model to begin with.
func Starter() []byte { return bytes.Clone(starter) }
