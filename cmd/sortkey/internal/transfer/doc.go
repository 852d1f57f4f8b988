// Package transfer brings items into tables and out of them: files of
// DynamoDB JSON as the service's export writes them, plain JSON and CSV.
//
// A [Reader] turns one file into [Record]s, line by line, whatever the size of
// the file or of a line. [Discover] finds what files and folders hold, and
// [Import] writes it through the BatchWriteItem of any DynamoDB client, in an
// order in which the last of several lines with one key wins. It keeps a
// journal, so that an import that was interrupted can go on, and a report of
// the lines that were refused. [Export] writes a folder that [Discover]
// understands: data files, manifests with checksums and counts, the table's
// definition.
//
// All of it works with bounded memory.
package transfer
