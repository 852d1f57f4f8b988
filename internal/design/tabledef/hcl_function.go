package tabledef

import (
	"encoding/json"
	"errors"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// This file has Terraform's functions. Most come from the cty library. Source:
// https://developer.hashicorp.com/terraform/language/functions

// pure returns the functions that read no files.
func pure() map[string]function.Function {
	return map[string]function.Function{
		"can":          tryfunc.CanFunc,
		"coalesce":     picks(coalesce),
		"compact":      stdlib.CompactFunc,
		"concat":       stdlib.ConcatFunc,
		"contains":     stdlib.ContainsFunc,
		"distinct":     stdlib.DistinctFunc,
		"element":      stdlib.ElementFunc,
		"flatten":      picks(flatten),
		"format":       multiplies(stdlib.FormatFunc),
		"join":         multiplies(stdlib.JoinFunc),
		"jsondecode":   decoder(stdlib.JSONDecode),
		"jsonencode":   stdlib.JSONEncodeFunc,
		"keys":         stdlib.KeysFunc,
		"length":       function.New(&length),
		"lookup":       stdlib.LookupFunc,
		"lower":        stdlib.LowerFunc,
		"merge":        stdlib.MergeFunc,
		"nonsensitive": picks(same),
		"one":          picks(one),
		"range":        stdlib.RangeFunc,
		"regex":        multiplies(stdlib.RegexFunc),
		"replace":      multiplies(function.New(&replaceText)),
		"sensitive":    picks(same),
		"slice":        stdlib.SliceFunc,
		"sort":         stdlib.SortFunc,
		"split":        stdlib.SplitFunc,
		"substr":       stdlib.SubstrFunc,
		"title":        stdlib.TitleFunc,
		"tobool":       stdlib.MakeToFunc(cty.Bool),
		"tolist":       stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":        stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber":     stdlib.MakeToFunc(cty.Number),
		"toset":        stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":     stdlib.MakeToFunc(cty.String),
		"trim":         stdlib.TrimFunc,
		"trimprefix":   stdlib.TrimPrefixFunc,
		"trimspace":    stdlib.TrimSpaceFunc,
		"trimsuffix":   stdlib.TrimSuffixFunc,
		"try":          tryfunc.TryFunc,
		"upper":        stdlib.UpperFunc,
		"values":       stdlib.ValuesFunc,
		"yamldecode":   decoder(decodeYAML),
		"zipmap":       stdlib.ZipmapFunc,
	}
}

var length = function.Spec{
	Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v := args[0]
		switch {
		case v.Type() == cty.String:
			return stdlib.Strlen(v)
		case v.CanIterateElements():
			return cty.NumberIntVal(int64(v.LengthInt())), nil
		}
		return cty.NilVal, errors.New("want a text, a list or an object")
	},
}

// replaceText replaces each occurrence of a text in another. A text between slashes is a regular expression.
var replaceText = function.Spec{
	Params: stdlib.ReplaceFunc.Params(),
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if text := args[1].AsString(); len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/' {
			pattern := text[1 : len(text)-1]
			return stdlib.RegexReplace(args[0], cty.StringVal(pattern), args[2])
		}
		return stdlib.Replace(args[0], args[1], args[2])
	},
}

// picks returns a function of one or more arguments of any type, which calls pick. Unlike other functions, pick gets
// unknown and marked values too.
func picks(pick func([]cty.Value) (cty.Value, error)) function.Function {
	value := function.Parameter{
		Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true, AllowMarked: true,
		AllowUnknown: true,
	}
	return function.New(&function.Spec{
		VarParam: &value,
		Type: func(args []cty.Value) (cty.Type, error) {
			if len(args) == 0 {
				return cty.NilType, errors.New("want an argument")
			}
			return cty.DynamicPseudoType, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return pick(args) },
	})
}

func same(args []cty.Value) (cty.Value, error) { return args[0], nil }

// one returns the only member of a list, or null if the list is empty.
func one(args []cty.Value) (cty.Value, error) {
	list, marks := args[0].Unmark()
	switch {
	case !list.IsKnown():
		return cty.DynamicVal.WithMarks(marks), nil
	case list.IsNull() || !list.CanIterateElements() || list.LengthInt() > 1:
		return cty.NilVal, errors.New("want a list with at most one member")
	}
	for it := list.ElementIterator(); it.Next(); {
		_, m := it.Element()
		return m.WithMarks(marks), nil
	}
	return cty.NullVal(cty.DynamicPseudoType).WithMarks(marks), nil
}

// flatten flattens nested lists. If a list is unknown, flatten returns an unknown value. The library's function would
// treat an unknown value with a mark as an element and not as a list.
func flatten(args []cty.Value) (cty.Value, error) {
	if marks, unknown := unknownList(args[0]); unknown {
		return cty.DynamicVal.WithMarks(marks), nil
	}
	return stdlib.Flatten(args[0])
}

// unknownList reports whether v, or a member at any depth, is unknown and may be a list. It returns the marks of that
// unknown value.
func unknownList(v cty.Value) (marks cty.ValueMarks, unknown bool) {
	v, marks = v.Unmark()
	t := v.Type()
	switch {
	case !v.IsKnown():
		return marks, t == cty.DynamicPseudoType || t.IsListType() || t.IsSetType() || t.IsTupleType()
	case v.IsNull() || !t.IsListType() && !t.IsSetType() && !t.IsTupleType():
		return nil, false
	}
	for it := v.ElementIterator(); it.Next(); {
		_, m := it.Element()
		if marks, unknown := unknownList(m); unknown {
			return marks, true
		}
	}
	return nil, false
}

// decoder returns a function that decodes a text and caches the result. A module often takes many tables from one
// file, by count.index, and would decode the file for each of them.
func decoder(decode func(cty.Value) (cty.Value, error)) function.Function {
	decoded := map[string]cty.Value{}
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (v cty.Value, err error) {
			text := args[0].AsString()
			v, ok := decoded[text]
			if !ok {
				if v, err = decode(args[0]); err == nil {
					decoded[text] = v
				}
			}
			return v, err
		},
	})
}

func decodeYAML(text cty.Value) (cty.Value, error) {
	v := parseYAML([]byte(text.AsString()))
	if v == nil {
		return cty.NilVal, errors.New("the YAML is malformed")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return cty.NilVal, err
	}
	return stdlib.JSONDecode(cty.StringVal(string(data)))
}

// coalesce returns the first argument that is known and neither null nor empty. If there is none, it returns an
// unknown argument.
func coalesce(args []cty.Value) (cty.Value, error) {
	unknown := cty.NilVal
	for _, arg := range args {
		v, _ := arg.Unmark()
		switch {
		case !v.IsKnown():
			unknown = arg
		case !v.IsNull() && (v.Type() != cty.String || v.AsString() != ""):
			return arg, nil
		}
	}
	if unknown == cty.NilVal {
		return unknown, errors.New("every argument is null or empty")
	}
	return unknown, nil
}

// withFiles returns all functions of a module, including file, which reads a file of the module.
func (s *scope) withFiles() map[string]function.Function {
	all := pure()
	all["file"] = function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			data, err := s.beside(args[0].AsString())
			return cty.StringVal(string(data)), err
		},
	})
	return all
}
