package ask

import (
	"regexp"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// plainOperand matches text that is a value without quotes, in every condition.
var plainOperand = regexp.MustCompile(`^[\pL\pN#/._:@+|-]+$`)

// Operand returns the text that a person types for the value of a key attribute.
func Operand(v attr.Value) string {
	if v.Kind() == attr.String && plainOperand.Match(v.Raw()) {
		return string(v.Raw())
	}
	return text.Literal(v) // a quoted string, a number, or binary data such as 0x00ff
}
