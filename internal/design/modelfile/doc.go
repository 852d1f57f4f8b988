// Package modelfile reads and writes models of key designs as YAML or JSON, in the format of docs/model-file.md.
// [Parse] reports all errors of a file with line and column. [Write] writes a model so that Parse reads back an equal
// one. Both use one description of the format in format.go: its objects, their members, and the codec of each member,
// which reads and writes one kind of value. [Schema] describes the format to editors as schema.json. A test compares
// schema.json with the objects.
package modelfile
