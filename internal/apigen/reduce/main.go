// Command reduce extracts from a service model what apigen needs: shapes, constraints and operations, without
// documentation. It reads the model from standard input, as botocore publishes it, and writes one shape per line to
// standard output.
//
//	go run ./internal/apigen/reduce <dynamodb.json >internal/apigen/model/dynamodb.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

// A ref is a reference to a shape, reduced to the shape's name.
type ref string

func (r *ref) UnmarshalJSON(data []byte) error {
	var x struct{ Shape string }
	err := json.Unmarshal(data, &x)
	*r = ref(x.Shape)
	return err
}

type operation struct {
	Input  ref   `json:"input"`
	Output ref   `json:"output,omitempty"`
	Errors []ref `json:"errors"`
}

type shape struct {
	Type      string         `json:"type"`
	Members   map[string]ref `json:"members,omitzero"`
	Required  []string       `json:"required,omitempty"`
	Enum      []string       `json:"enum,omitempty"`
	Min       *float64       `json:"min,omitempty"`
	Max       *float64       `json:"max,omitempty"`
	Pattern   string         `json:"pattern,omitempty"`
	Member    ref            `json:"member,omitempty"`
	Key       ref            `json:"key,omitempty"`
	Value     ref            `json:"value,omitempty"`
	Exception bool           `json:"exception,omitempty"`
	Fault     bool           `json:"fault,omitempty"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("reduce: ")
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	out, err := reduce(data)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(out); err != nil {
		log.Fatal(err)
	}
}

func reduce(model []byte) ([]byte, error) {
	var m struct {
		Operations map[string]operation
		Shapes     map[string]shape
	}
	if err := json.Unmarshal(model, &m); err != nil {
		return nil, err
	}

	for name, op := range m.Operations {
		if op.Errors == nil {
			op.Errors = []ref{}
			m.Operations[name] = op
		}
	}

	var b bytes.Buffer
	b.WriteString("{\n")
	if err := section(&b, "operations", m.Operations); err != nil {
		return nil, err
	}

	b.WriteString(",\n")
	if err := section(&b, "shapes", m.Shapes); err != nil {
		return nil, err
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

// section writes a map as a member of a JSON object, with one entry per line.
func section[V any](b *bytes.Buffer, name string, entries map[string]V) error {
	fmt.Fprintf(b, "%q: {", name)
	for i, key := range slices.Sorted(maps.Keys(entries)) {
		if i > 0 {
			b.WriteByte(',')
		}
		data, err := json.Marshal(entries[key])
		if err != nil {
			return err
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, data, "", ""); err != nil {
			return err
		}
		fmt.Fprintf(b, "\n  %q: %s", key, oneLine.Replace(spaced.String()))
	}
	b.WriteString("\n}")
	return nil
}

// oneLine puts indented JSON on one line.
var oneLine = strings.NewReplacer(",\n", ", ", "\n", "")
