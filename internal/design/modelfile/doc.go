// Package modelfile reads and writes models of key designs as YAML or JSON, the format of
// docs/model-file.md. [Parse] reports all errors of a file with line and column, and [Write]
// writes what Parse reads back to an equal model. Both follow one description of the format, in
// format.go: its objects, their members, and the codec of each, which reads and writes a kind of
// value. [Schema] describes the format to editors: schema.json, which a test holds to the objects.
package modelfile
