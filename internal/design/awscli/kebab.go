package awscli

import "strings"

// Kebab returns the CLI's form of an API name: table-name for TableName.
func Kebab(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			c |= 0x20
		}
		b.WriteByte(c)
	}
	return b.String()
}
