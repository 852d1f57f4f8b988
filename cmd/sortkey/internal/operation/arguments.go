package operation

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/text"
)

// positional returns the params that take their values from the arguments of a command line, and how many of these
// params are required. It returns separately, as flagged, the params that take no argument because the user has set
// them with flags.
func (op *Operation) positional(v *Values) (params, flagged []*Param, required int) {
	for _, p := range op.Params {
		switch {
		case p.Arg == "":
		case p.Flag != "" && !isZero(p.To(v)):
			flagged = append(flagged, p)
		default:
			params = append(params, p)
			if p.Required {
				required++
			}
		}
	}
	return params, flagged, required
}

// Place assigns the arguments of a command line to params, in their order. Each required param gets one argument. Of
// the arguments that remain, an optional param gets one, or all of them if its Rest is set. Place returns a usage
// error if there are too few or too many arguments.
func (op *Operation) Place(v *Values, args []string) error {
	help := "see sortkey " + op.Name + " --help"
	usage := func(format string, a ...any) error {
		return ask.UsageError(help, op.Name+" "+format, a...)
	}
	params, flagged, required := op.positional(v)
	if missing := required - len(args); missing > 0 {
		var what []string
		for _, p := range params {
			if p.Required {
				what = append(what, p.What)
			}
		}
		return usage("needs %s", text.Join(what[len(args):], "and"))
	}

	spare, rest := len(args)-required, args
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
	if len(rest) > 0 && len(flagged) > 0 {
		p := flagged[len(flagged)-1]
		return ask.UsageError(help, "give %s with --%s or as an argument, not both", p.What, p.Flag)
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
			if err != nil || n < 0 {
				return v, fmt.Errorf("the %s is a number from 1, not %q", p.Name, typed)
			}
			*to = int32(n)
		default:
			p.place(&v, []string{typed})
		}
	}
	return v, nil
}

func isZero(to any) bool {
	v := reflect.ValueOf(to).Elem()
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}
