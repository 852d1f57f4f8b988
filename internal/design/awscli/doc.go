// Package awscli has the words of a line of a shell: [Split] splits a line into words as a POSIX shell does, but
// nothing runs and no variable is expanded, [Quote] quotes a word, and [Kebab] returns the AWS CLI's name for a name of
// the API.
package awscli
