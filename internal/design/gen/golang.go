package gen

import (
	"go/format"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// golang returns a request as a call of the AWS SDK for Go v2.
func golang(in wire.Request) string {
	op := in.Op().String()
	var b strings.Builder
	b.WriteString("out, err := client." + op + "(ctx, &dynamodb." + op + "Input{\n")
	for _, m := range membersOf(in) {
		b.WriteString("\t" + m.Name + ": " + goLiterals.member(m, "\t") + ",\n")
	}
	b.WriteString("})\n")
	if formatted, err := format.Source([]byte(b.String())); err == nil {
		return string(formatted)
	}
	return b.String()
}

// goPointer converts the literal of a member to the type that the SDK's input struct has for it, such as a pointer.
func goPointer(m member, literal string) string {
	switch m.value.(type) {
	case string:
		return "aws.String(" + literal + ")"
	case enum:
		return "types." + m.Name + "(" + literal + ")"
	case bool:
		return "aws.Bool(" + literal + ")"
	case int64:
		return "aws.Int32(" + literal + ")"
	}
	return literal
}
