package gen

import (
	"strings"
	"unicode/utf8"
)

// A kind is the kind of value that callers of generated code pass for a component or a field.
type kind int

const (
	textKind   kind = iota // text, or a number with too many digits for an int64
	numberKind             // a whole number
	timeKind
)

// A nameKind is a kind of name in generated code.
type nameKind int

const (
	constantName nameKind = iota // name of a table, an index or an attribute
	templateName                 // of the template of a key
	typeName                     // type of the values in the keys of an entity
	functionName                 // function that returns the request of a pattern or builds keys of an entity
	fieldName                    // of a value in keys
	valueName                    // of a parameter
)

var golangCode = &language{
	file:  "go.tmpl",
	types: map[kind]string{textKind: "string", numberKind: "int64", timeKind: "time.Time"},
	name: map[nameKind]func(string) string{
		constantName: func(s string) string { return exported(s, "Name") },
		templateName: func(s string) string { return exported(s, "Template") },
		typeName:     func(s string) string { return exported(s, "Entity") },
		functionName: func(s string) string { return exported(s, "Pattern") },
		fieldName:    func(s string) string { return exported(s, "Field") },
		valueName:    func(s string) string { return unexported(s, "value") },
	},
	suffix: map[nameKind]string{
		constantName: "Name", templateName: "Template", typeName: "Values", functionName: "Pattern",
		fieldName: "Field", valueName: "Value",
	},
	words: strings.Fields(`break case chan const continue default defer else fallthrough for func go goto if import
		interface map package range return select struct switch type var
		keys aws dynamodb types time fmt strconv string int64 error nil true false any byte err in k item len cap iota
		append copy make new b builder condition inRange query given textOf oneOf compares moment
		attributeS attributeN attributeB Key Attributes`),
	literal: goLiterals.value,
	member:  func(m member) string { return goLiterals.member(m, "\t\t") },
	doc:     func(_, text string) string { return "// " + strings.Join(wrap(text, 96), "\n// ") + "\n" },
}

var pythonCode = &language{
	file:  "python.tmpl",
	types: map[kind]string{textKind: "keys.Text", numberKind: "int", timeKind: "keys.Time"},
	name: map[nameKind]func(string) string{
		constantName: func(s string) string { return strings.ToUpper(lowerWords(s)) },
		templateName: func(s string) string { return strings.ToUpper(lowerWords(s)) },
		typeName:     func(s string) string { return exported(s, "Entity") },
		functionName: lowerWords, fieldName: lowerWords, valueName: lowerWords,
	},
	suffix: map[nameKind]string{
		constantName: "_NAME", templateName: "_TEMPLATE", typeName: "Values", functionName: "_pattern",
		fieldName: "_value", valueName: "_value",
	},
	words: strings.Fields(`False None True and as assert async await break class continue def del elif else except
		finally for from global if import in is lambda nonlocal not or pass raise return try while with yield
		match case type print self item dataclasses annotations Optional keys str int bytes dict list key attributes`),
	literal: pythonLiterals.value,
	member:  func(m member) string { return pythonLiterals.value(m.value) },
	doc:     docstring,
}

var scriptCode = &language{
	file:  "typescript.tmpl",
	types: map[kind]string{textKind: "string", numberKind: "number | bigint", timeKind: "keys.Time"},
	name: map[nameKind]func(string) string{
		typeName:     func(s string) string { return exported(s, "Entity") },
		constantName: camelWords, templateName: camelWords, functionName: camelWords, fieldName: camelWords,
		valueName: camelWords,
	},
	suffix: map[nameKind]string{
		constantName: "Name", templateName: "Template", typeName: "Values", functionName: "Pattern",
		fieldName: "Value", valueName: "Value",
	},
	words: strings.Fields(`abstract any as async await bigint boolean break case catch class const constructor
		continue debugger declare default delete do else enum export extends false finally for from function get if
		implements import in infer instanceof interface is keyof let module namespace never new null number object of
		package private protected public readonly require return set static string super switch symbol this throw true
		try type typeof undefined unique unknown var void while with yield arguments eval item values keys`),
	functions: true,
	literal:   jsLiterals.value,
	member:    func(m member) string { return jsLiterals.value(m.value) },
	doc: func(indent, text string) string {
		lines := wrap(strings.ReplaceAll(text, "*/", "* /"), 100)
		if len(lines) == 1 {
			return indent + "/** " + lines[0] + " */\n"
		}
		return indent + "/**\n" + indent + " * " + strings.Join(lines, "\n"+indent+" * ") + "\n" + indent + " */\n"
	},
}

// docstring returns text as a Python docstring.
func docstring(indent, text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"""`, `\"\"\"`)
	if strings.HasSuffix(text, `"`) {
		text += " "
	}
	lines := wrap(text, 96-len(indent))
	if len(lines) == 1 {
		return indent + `"""` + lines[0] + "\"\"\"\n"
	}
	return indent + `"""` + strings.Join(lines, "\n"+indent) + "\n" + indent + "\"\"\"\n"
}

// capital returns s with its first letter in upper case.
func capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}
