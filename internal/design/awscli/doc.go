// Package awscli reads the lines that people type to the AWS CLI, such as
//
//	aws dynamodb query --table-name Shop --key-condition-expression 'PK = :p' \
//	    --expression-attribute-values '{":p": {"S": "C#1"}}'
//
// [Parse] gives the operation and the JSON of its request, [Format] writes
// such a line. Lines are read as a POSIX shell would, with quotes, backslashes
// and comments, but nothing is run and no variable is filled in. Values may be
// JSON, in the shorthand syntax of the CLI, or in files.
package awscli
