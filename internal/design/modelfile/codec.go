package modelfile

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/text"
)

// A codec reads and writes one kind of value. The function read reads a value into v and reports whether it got one.
// The function write returns the node for v, or nil to write nothing.
type codec struct {
	read  func(in value, v reflect.Value) bool
	write func(v reflect.Value) *yaml.Node
	of    reflect.Type // type of v if the codec is for one type only
}

// special returns a codec with functions that read and write a T. T is the type of the value, or of the struct whose
// fields store the value.
func special[T any](read func(in value, v *T), write func(v *T) *yaml.Node) codec {
	return codec{
		read: func(in value, v reflect.Value) bool {
			read(in, as[T](v))
			return true
		},
		write: func(v reflect.Value) *yaml.Node { return write(as[T](v)) },
		of:    reflect.TypeFor[T](),
	}
}

func as[T any](v reflect.Value) *T { return v.Addr().Interface().(*T) }

// without returns a codec that does not write the given value, because it is the default.
func (c codec) without(value string) codec {
	write := c.write
	c.write = func(v reflect.Value) *yaml.Node {
		if fmt.Sprint(v) == value {
			return nil
		}
		return write(v)
	}
	return c
}

// called returns a codec that gives the value the name what in error messages.
func (c codec) called(what string) codec {
	read := c.read
	c.read = func(in value, v reflect.Value) bool { return read(in.called(what), v) }
	return c
}

// optional returns a codec that also accepts an empty value and ignores it.
func (c codec) optional() codec {
	read := c.read
	c.read = func(in value, v reflect.Value) bool { return empty(in.node) || read(in, v) }
	return c
}

// linked returns a codec that delays reading until the parser knows all entities.
func (c codec) linked() codec {
	return c.queued(func(p *parser) *[]func() { return &p.linked })
}

// later returns a codec that delays reading until the parser has parsed all templates.
func (c codec) later() codec {
	return c.queued(func(p *parser) *[]func() { return &p.later })
}

func (c codec) queued(queue func(*parser) *[]func()) codec {
	read := c.read
	c.read = func(in value, v reflect.Value) bool {
		e, q := in.entity, queue(in.parser)
		*q = append(*q, func() {
			in.entity = e
			read(in, v)
		})
		return true
	}
	return c
}

// unread returns a codec that only writes, because the functions before and after of the object read the member.
func (c codec) unread() codec {
	c.read = nil
	return c
}

// readInto reads a value into v. If v is a pointer, it allocates a new value.
func (c codec) readInto(in value, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return c.read(in, reflect.Indirect(v))
}

// scalar returns a codec that reads a text with parse. If parse returns the zero value, as for invalid text, the
// codec keeps the previous value.
func scalar[T any](parse func(in value, s string) T) codec {
	return codec{
		read: func(in value, v reflect.Value) bool {
			s, ok := in.text()
			if !ok {
				return false
			}
			if parsed := reflect.ValueOf(parse(in, s)); !parsed.IsZero() {
				v.Set(parsed)
			}
			return true
		},
		write: func(v reflect.Value) *yaml.Node {
			if v.Kind() == reflect.String {
				return textNode(v.String())
			}
			return scalarNode(v.Interface())
		},
	}
}

// checked returns the codec of a text. The function check reports errors in the text. The codec keeps the text even
// then, because Parse fails anyway.
func checked(check func(in value, s string)) codec {
	return scalar(func(in value, s string) string {
		check(in, s)
		return s
	})
}

var (
	textCodec  = checked(func(value, string) {})
	textsCodec = listOf(yaml.FlowStyle, textCodec)

	flagCodec = scalar(func(in value, s string) bool {
		if s != "true" && s != "false" {
			in.fail("", "%s must be true or false, not %s", in.what, clip(s))
		}
		return s == "true"
	})
)

// referenceCodec writes the name of the object that the value points to.
var referenceCodec = codec{
	write: func(v reflect.Value) *yaml.Node { return textNode(v.FieldByName("Name").String()) },
}

// number returns the codec of numbers from 0 to most.
func number(most float64) codec {
	return scalar(func(in value, s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= 0 && f <= most) {
			in.fail("", "%s must be a number from 0 to %s, not %s", in.what, text.Thousands(int(most)), clip(s))
		}
		return f
	})
}

// maxRate is the highest rate of requests per second, and the highest number of units. It keeps the sums of costs
// readable.
const maxRate = 1_000_000_000

// integer returns the codec of whole numbers from least to most.
func integer(least, most int) codec {
	return scalar(func(in value, s string) int {
		return in.whole(s, least, most)
	})
}

func (in value) whole(s string, least, most int) int {
	i, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err == nil && i >= least && i <= most {
		return i
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		s = strconv.Quote(s)
	}
	in.fail("", "%s must be a whole number from %d to %d, not %s", in.what, least, most, clip(s))
	return 0
}

// listOf returns the codec of lists. It reads a value that is not a list as a list of one element.
func listOf(style yaml.Style, element codec) codec {
	return codec{
		read: func(in value, v reflect.Value) bool {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			for _, e := range in.list() {
				one := reflect.New(v.Type().Elem()).Elem()
				if element.readInto(e, one) {
					v.Set(reflect.Append(v, one))
				}
			}
			return true
		},
		write: func(v reflect.Value) *yaml.Node {
			n := &yaml.Node{Kind: yaml.SequenceNode, Style: style}
			for i := range v.Len() {
				n.Content = append(n.Content, element.write(reflect.Indirect(v.Index(i))))
			}
			return n
		},
	}
}

// named returns the codec of mappings from names to elements. An element has fields Pos and Name. start checks the
// name and reports whether to read the element. Messages call the element by the prefix and its name.
func named[T any](prefix string, start func(key value, v *T) bool, element codec) codec {
	return codec{
		read: func(in value, v reflect.Value) bool {
			for _, e := range in.entries() {
				one := reflect.ValueOf(new(T))
				one.Elem().FieldByName("Pos").Set(reflect.ValueOf(e.key.pos()))
				one.Elem().FieldByName("Name").SetString(e.name)
				if start(e.key, as[T](one.Elem())) && element.read(e.called(prefix+e.name), one.Elem()) {
					v.Set(reflect.Append(v, one))
				}
			}
			return true
		},
		write: func(v reflect.Value) *yaml.Node {
			all := &yaml.Node{Kind: yaml.MappingNode}
			for i := range v.Len() {
				one := v.Index(i).Elem()
				n := element.write(one)
				if n == nil {
					n = flowNode()
				}
				put(all, one.FieldByName("Name").String(), n)
			}
			return all
		},
	}
}
