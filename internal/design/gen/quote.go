package gen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sortkey/sortkey/internal/text"
)

// quote returns s in double quotes with the escapes of JSON, which JavaScript reads too. It escapes invisible
// characters.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String() + `"`
}

// shellQuote quotes a word so that a POSIX shell reads it unchanged.
func shellQuote(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plainWord = text.Pattern(`^[A-Za-z0-9_./:=,@%+-]+$`)

// kebab converts an API name to the AWS CLI's form: TableName to table-name.
func kebab(name string) string {
	return strings.ToLower(name[:1] + capitals().ReplaceAllString(name[1:], "-$0"))
}

var capitals = text.Pattern(`[A-Z]`)
