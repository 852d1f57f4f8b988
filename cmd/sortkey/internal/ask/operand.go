package ask

import (
	"regexp"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// plainOperand matches text that no condition takes for anything but a value.
var plainOperand = regexp.MustCompile(`^[\pL\pN#/._:@+|-]+$`)

// Operand returns a value of a key as a person types it.
func Operand(v attr.Value) string {
	if v.Kind() == attr.String && plainOperand.Match(v.Raw()) {
		return string(v.Raw())
	}
	return text.Literal(v) // numbers are as they are, binary values 0x00ff
}
