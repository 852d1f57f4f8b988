// Package awscli reads and writes words of a shell's command line. [Split] splits a line into words as a POSIX shell
// does, but runs nothing and expands no variables. [Quote] quotes a word. [Kebab] returns the AWS CLI's form of an
// API name.
package awscli
