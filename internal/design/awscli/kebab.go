package awscli

import "strings"

// Kebab converts an API name to the AWS CLI's form: TableName to table-name.
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
