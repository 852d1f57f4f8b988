package ask

import (
	"regexp"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// plainOperand matches values that need no quotes in any condition.
var plainOperand = regexp.MustCompile(`^[\pL\pN#/._:@+|-]+$`)

// Operand returns the value of a key attribute as a person would type it, with quotes if it needs them.
func Operand(v attr.Value) string {
	if v.Kind() == attr.String && plainOperand.Match(v.Raw()) {
		return string(v.Raw())
	}
	return text.Literal(v) // a quoted string, a number, or binary data such as 0x00ff
}
