package lint

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var addressOrder = rule.Rule{
	ID: "address-order", Title: "IP addresses whose numbers are not padded", Severity: model.Warning,
	Help: "Text is compared byte by byte, so 10.0.0.10 comes before 10.0.0.9: a range of addresses is not a range of " +
		"keys, and 10.0.1 begins 10.0.10.7 too. The rule looks at IPv4 addresses with which a pattern asks for a " +
		"range, a beginning that ends inside a number, or an order. It is an error if the data has two out of order.",
	Example: []string{`"HOST#10.0.0.10"`, `"HOST#10.0.0.9"`},
	Cure: "Pad each number to three digits, 010.000.000.009, in the program that writes and asks for them. If a " +
		"subnet is all that is asked for, write its numbers as fields: NET#{net}#{host:int(3)}.",
	Source: guide + "Query.html (strings are ordered by their UTF-8 bytes)",

	Component: func(p *rule.Pass, c rule.Component) {
		if !c.SortedText() || !rule.Plain(c.Type) || !c.AllWritten(isAddress) {
			return
		}
		words := c.Written()
		short := slices.IndexFunc(words, func(w rule.Written) bool { return w.Text != paddedAddress(w.Text) })
		q := addressesWanted(p, c)
		if short < 0 || q == nil {
			return
		}

		f := c.Finding("%s in %s of %s is an IP address whose numbers are not padded", c, c.Slot, c.View())
		if a, b, n := rule.Disorder(words, compareAddresses); n > 0 {
			f.Severity = model.Error
			f.Say(": %s sorts before %s%s", a, b, rule.AndMore(n-1))
			f.Keys = c.Pair(a, b)
		} else {
			f.Say(": 10.0.0.10 would sort before 10.0.0.9")
			f.Keys = c.Pair(rule.Written{Text: "10.0.0.10"}, rule.Written{Text: "10.0.0.9"})
		}
		f.Say("; %q needs their order", q.Name)
		f.Advise("pad each number to three digits, as in %s", paddedAddress(words[short].Text))
		p.Report(f)
	},
}

// addressesWanted returns a pattern that depends on the order of addresses, or nil.
func addressesWanted(p *rule.Pass, c rule.Component) *rule.Query {
	if q := c.NeededBy(false); q != nil {
		return q
	}
	for _, q := range p.Queries {
		if q.View == nil || q.View != c.SortView() {
			continue
		}
		next, ok := q.Next(c.Entity)
		if q.Entity == c.Entity && q.Ordered && ok && next.Slot == c.Slot && next.At == c.At {
			return q
		}

		// A condition on the key itself, or the beginning of an address.
		r := q.Range()
		if r == nil || r.Attribute != c.Slot.Name || !inPartition(q, c.Entity) {
			continue
		}
		bound := string(r.Values[0].Raw())
		at, inside, ok := c.Slot.After(bound)
		cut := bound[strings.LastIndexByte(bound, '.')+1:]
		if ok && inside && at.At == c.At && (r.Op != ast.OpBeginsWith || cut != "" && isDigit(cut[len(cut)-1])) {
			return q
		}
	}
	return nil
}

// addressOf returns the IPv4 address of a text such as 10.0.0.9 or 10.0.0.0/24.
func addressOf(text string) (netip.Addr, bool) {
	host, _, _ := strings.Cut(text, "/")
	ip, err := netip.ParseAddr(host)
	return ip, err == nil && ip.Is4()
}

func isAddress(text string) bool {
	_, ok := addressOf(text)
	return ok
}

func compareAddresses(a, b string) int {
	x, _ := addressOf(a)
	y, _ := addressOf(b)
	return x.Compare(y)
}

// paddedAddress returns an address with three digits for each number.
func paddedAddress(address string) string {
	ip, _ := addressOf(address)
	b := ip.As4()
	padded := fmt.Sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3])
	if _, bits, ok := strings.Cut(address, "/"); ok {
		padded += "/" + bits
	}
	return padded
}
