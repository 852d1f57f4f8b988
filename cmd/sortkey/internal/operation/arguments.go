package operation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/text"
)

// Place assigns the arguments of a command line to params, in their order. Each required param gets one argument. The
// arguments that remain go to the optional params in their order.
func (op *Operation) Place(v *Values, args []string) error {
	usage := func(format string, a ...any) error {
		return ask.UsageError("see sortkey "+op.Name+" --help", op.Name+" "+format, a...)
	}
	var params []*Param
	var required []string
	for _, p := range op.Params {
		if p.Arg != "" {
			params = append(params, p)
		}
		if p.Arg != "" && p.Required {
			required = append(required, p.What)
		}
	}
	if len(args) < len(required) {
		return usage("needs %s", text.Join(required[len(args):], "and"))
	}

	spare, rest := len(args)-len(required), args
	for _, p := range params {
		n := 1
		if !p.Required {
			if n = min(spare, 1); p.Rest {
				n = spare
			}
			spare -= n
		}
		p.place(v, rest[:n])
		rest = rest[n:]
	}
	if n := len(params); len(rest) > 0 && n > 0 && params[n-1].Complete == SortKeys {
		// These arguments may be values of further sort key attributes. If the sort key has fewer attributes, a later
		// step returns the error, once it knows the table.
		v.Sort = append(v.Sort, rest...)
		return nil
	}
	if len(rest) > 0 {
		return usage("takes %s, not %s", strings.TrimPrefix(op.Usage(), op.Name+" "), text.Count(len(args), "argument"))
	}
	return nil
}

// place sets the value of a param from its words on the command line.
func (p *Param) place(v *Values, words []string) {
	if len(words) == 0 {
		return
	}
	joined := strings.Join(words, " ")
	switch to := p.To(v).(type) {
	case *string:
		*to = joined
	case *[]byte:
		*to = []byte(joined)
	case *[]string:
		if *to = words; p.Kind == Text {
			*to = []string{joined}
		}
	}
}

// Form returns the values that a person has entered in a form. The function field returns the text of a field of the
// form. The fields have the names of the params.
func (op *Operation) Form(field func(name string) string) (Values, error) {
	var v Values
	for _, p := range op.Params {
		typed := ""
		if p.Name != "" {
			typed = field(p.Name)
		}
		if strings.TrimSpace(typed) == "" && !p.Required {
			continue
		}
		switch to := p.To(&v).(type) {
		case *bool:
			*to = true
		case *int32:
			n, err := strconv.ParseInt(typed, 10, 32)
			if err != nil || float64(n) < *p.Least {
				return v, fmt.Errorf("the %s is a number from %v, not %q", p.Name, *p.Least, typed)
			}
			*to = int32(n)
		default:
			p.place(&v, []string{typed})
		}
	}
	return v, nil
}
