// Package modelfile reads and writes models of key designs as YAML or JSON, the format of
// docs/model-file.md. [Parse] reports all errors of a file with line and column, [Write]
// writes what Parse reads back to an equal model, and [Schema] describes the format for
// editors.
package modelfile
