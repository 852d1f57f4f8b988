// Package modelfile reads and writes models of key designs as YAML or JSON, the format of
// docs/model-file.md. [Parse] reports all errors of a file with line and column, [Write]
// writes what Parse reads back to an equal model, and [Schema] describes the format for
// editors. All three follow one description of the format, in format.go: its objects, their
// members, and the codec of each. A codec reads a kind of value, writes it, and is its schema.
package modelfile
