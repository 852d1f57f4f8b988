// Package awscli reads and writes the words of shell command lines. [Split] splits a line into words as a POSIX shell
// does, but runs nothing and expands no variables. [Quote] quotes a word. [Kebab] converts an API name, such as
// TableName, to the AWS CLI's form, table-name.
package awscli
