// Package awscli reads the AWS CLI commands that people paste, such as
//
//	aws dynamodb query --table-name Shop --key-condition-expression 'PK = :p' \
//	    --expression-attribute-values '{":p": {"S": "C#1"}}'
//
// A [Parser] returns the operation and the JSON of its request, and [Format]
// writes such a line. Only operations that read items are known. Lines are split
// as a POSIX shell does, but nothing runs and no variable is expanded. Values
// may be JSON, shorthand, or in files. Errors are [*advice.Error].
package awscli
