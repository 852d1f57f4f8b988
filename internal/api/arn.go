package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// DefaultRegion and DefaultAccount are the region and the account in ARNs, unless an [ARNs] has others.
const (
	DefaultRegion  = "us-east-1"
	DefaultAccount = "000000000000"
)

// A TableRef is a reference to a table in a request: its name, its ARN, or the
// ARN of one of its indexes or streams.
type TableRef struct {
	Name string
	// Index and Stream are the index name and the stream label, if the reference is the ARN of an index or a stream.
	Index, Stream string
	// Region and Account are empty if the reference is a plain name.
	Region, Account string
}

// ParseTable parses a TableName or ResourceArn, which is a name or an ARN such as
// arn:aws:dynamodb:us-east-1:000000000000:table/Orders/index/ByDate. It does not check the name, as Validate does.
// The error is a [*wire.Error], a ValidationException.
func ParseTable(s string) (TableRef, error) {
	if !strings.HasPrefix(s, wire.ARNPrefix) {
		return TableRef{Name: s}, nil
	}
	return ParseARN(s)
}

func noARN(s string) *wire.Error {
	return wire.Validation("Invalid TableArn: Invalid ResourceArn provided as input " + s)
}

// ParseARN reads the ARN of a table, index or stream. The error is a
// [*wire.Error], a ValidationException.
func ParseARN(s string) (TableRef, error) {
	bad := noARN(s)
	parts := strings.SplitN(s, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws") || parts[2] != "dynamodb" ||
		parts[3] == "" || parts[4] == "" || len(s) > wire.MaxARN {
		return TableRef{}, bad
	}
	resource, ok := strings.CutPrefix(parts[5], "table/")
	if !ok {
		return TableRef{}, bad
	}
	ref := TableRef{Region: parts[3], Account: parts[4]}
	name, rest, more := strings.Cut(resource, "/")
	if !wire.ValidName(name) {
		return TableRef{}, bad
	}

	ref.Name = name
	if !more {
		return ref, nil
	}
	kind, last, _ := strings.Cut(rest, "/")
	switch {
	case kind == "index" && wire.ValidName(last):
		ref.Index = last
	case kind == "stream" && last != "" && !strings.Contains(last, "/"):
		ref.Stream = last
	default:
		return TableRef{}, bad
	}

	return ref, nil
}

// ARNs makes ARNs with a region and an account. Empty fields stand for [DefaultRegion] and [DefaultAccount].
type ARNs struct{ Region, Account string }

func (a ARNs) prefix() string { return a.of("dynamodb") + "table/" }

// of returns the prefix that all ARNs of an AWS service share, such as "arn:aws:dynamodb:us-east-1:000000000000:".
func (a ARNs) of(service string) string {
	return "arn:aws:" + service + ":" + cmp.Or(a.Region, DefaultRegion) + ":" + cmp.Or(a.Account, DefaultAccount) + ":"
}

// managedKey is the alias of the KMS key that encrypts a table if the client names no key. Source:
// API_SSESpecification, KMSMasterKeyId.
const managedKey = "alias/aws/dynamodb"

// Key returns the ARN of the KMS key that a client chose by key id, key ARN, alias name or alias ARN. If chosen is
// empty, Key returns the ARN of the key that KMS manages for DynamoDB. There is no KMS to resolve aliases, so Key
// derives a key id from the name of each alias.
func (a ARNs) Key(chosen string) string {
	id := cmp.Or(chosen, managedKey)
	if strings.HasPrefix(id, wire.ARNPrefix) {
		_, alias, ok := strings.Cut(id, ":alias/")
		if !ok {
			return id
		}
		id = "alias/" + alias
	}
	if strings.HasPrefix(id, "alias/") {
		sum := sha256.Sum256([]byte(a.of("kms") + id))
		id, _ = NewUUID(bytes.NewReader(sum[:])) // cannot fail: sum has 32 bytes
	}
	return a.of("kms") + "key/" + id
}

// Table returns the ARN of a table.
func (a ARNs) Table(name string) string { return a.prefix() + name }

// Index returns the ARN of an index of a table.
func (a ARNs) Index(table, index string) string { return a.prefix() + table + "/index/" + index }

// Stream returns the ARN of a stream of a table. A label is a time such as 2026-01-02T15:04:05.000.
func (a ARNs) Stream(table, label string) string { return a.prefix() + table + "/stream/" + label }

// Local reports whether ref is a plain name, or an ARN with the region and the account of a.
func (a ARNs) Local(ref TableRef) bool {
	if ref.Region == "" && ref.Account == "" {
		return true
	}
	return a.prefix() == ARNs{ref.Region, ref.Account}.prefix()
}

// NewUUID returns a version 4 UUID made of 16 bytes from random. It fails only if random fails.
func NewUUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
