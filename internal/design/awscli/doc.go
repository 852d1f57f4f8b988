// Package awscli writes requests as lines of the AWS CLI. [Format] writes such as
//
//	aws dynamodb query --table-name Shop --key-condition-expression 'PK = :p' \
//	    --expression-attribute-values '{":p": {"S": "C#1"}}'
//
// for the operations that read items. [Split] splits a line into words as a POSIX
// shell does, but nothing runs and no variable is expanded, and [Quote] quotes a word.
package awscli
