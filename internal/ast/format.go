package ast

// Format returns the condition as an expression with parentheses around every
// condition in it, so that it shows how the parser bound it. Parsing that with
// the same names and values gives the same tree again, unless it is longer
// than an expression may be.
//
// What came from legacy parameters has no names for its values; they are
// written themselves, as {S:hello}.
func Format(n Node) string { return string(AppendFormat(nil, n)) }

// AppendFormat appends what [Format] returns.
func AppendFormat(dst []byte, n Node) []byte {
	switch n := n.(type) {
	case *And:
		return appendInfix(dst, n.L, " AND ", n.R)
	case *Or:
		return appendInfix(dst, n.L, " OR ", n.R)
	case *Not:
		dst = append(dst, "(NOT "...)
		dst = AppendFormat(dst, n.X)
		return append(dst, ')')
	case *Compare:
		dst = append(dst, '(')
		dst = AppendOperand(dst, n.L)
		dst = append(dst, ' ')
		dst = append(dst, n.Op...)
		dst = append(dst, ' ')
		dst = AppendOperand(dst, n.R)
		return append(dst, ')')
	case *Between:
		dst = append(dst, '(')
		dst = AppendOperand(dst, n.X)
		dst = append(dst, " BETWEEN "...)
		dst = AppendOperand(dst, n.Lo)
		dst = append(dst, " AND "...)
		dst = AppendOperand(dst, n.Hi)
		return append(dst, ')')
	case *In:
		dst = append(dst, '(')
		dst = AppendOperand(dst, n.X)
		dst = append(dst, " IN "...)
		dst = appendList(dst, n.List)
		return append(dst, ')')
	case *Call:
		dst = append(dst, n.Func...)
		return appendList(dst, n.Args)
	}
	return dst
}

func appendInfix(dst []byte, l Node, op string, r Node) []byte {
	dst = append(dst, '(')
	dst = AppendFormat(dst, l)
	dst = append(dst, op...)
	dst = AppendFormat(dst, r)
	return append(dst, ')')
}

func appendList(dst []byte, list []Operand) []byte {
	dst = append(dst, '(')
	for i, o := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendOperand(dst, o)
	}
	return append(dst, ')')
}

func AppendOperand(dst []byte, o Operand) []byte {
	switch o := o.(type) {
	case *PathOperand:
		if o.Text != "" {
			return append(dst, o.Text...)
		}
		return append(dst, o.Path.String()...)
	case *ValueOperand:
		if o.Name != "" {
			return append(dst, o.Name...)
		}
		return o.Value.AppendText(dst)
	case *SizeOperand:
		dst = append(dst, Size...)
		return appendList(dst, []Operand{o.X})
	case *Arithmetic:
		dst = AppendOperand(dst, o.L)
		dst = append(dst, ' ')
		dst = append(dst, o.Op...)
		dst = append(dst, ' ')
		return AppendOperand(dst, o.R)
	case *Call:
		dst = append(dst, o.Func...)
		return appendList(dst, o.Args)
	}
	return dst
}
