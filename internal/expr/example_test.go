package expr_test

import (
	"fmt"
	"log"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

func Example() {
	values, err := attr.ParseItem([]byte(`{":v": {"S": "x"}}`))
	if err != nil {
		log.Fatal(err)
	}
	env, err := expr.NewEnv(expr.Params{Names: map[string]string{"#a": "a"}, Values: values})
	if err != nil {
		log.Fatal(err)
	}
	c, err := env.Condition(expr.ConditionExpression, "(#a = :v AND NOT contains(b.c[2], :v))")
	if err != nil {
		log.Fatal(err)
	}
	for o := range ast.Operands(expr.Node(c)) {
		if path, ok := o.(*ast.PathOperand); ok {
			fmt.Println(path.Path, "at", path.Start)
		}
	}

	fmt.Println(ast.Format(expr.Node(c)))
	short := ast.Style{
		Name:  func(name string) string { return name },
		Value: func(v attr.Value) string { return fmt.Sprintf("%q", v.Raw()) },
	}
	fmt.Println(short.Condition(expr.Node(c)))

	missing := &ast.Call{
		Func: ast.AttributeNotExists, Args: []ast.Operand{&ast.PathOperand{Path: ast.Path{{Name: "a"}}}},
	}
	either := expr.NewCondition(&ast.Or{L: missing, R: expr.Node(c)})
	fmt.Println(either, either.Match(nil))
	// Output:
	// a at 1
	// b.c[2] at 26
	// ((#a = :v) AND (NOT contains(b.c[2], :v)))
	// a = "x" AND NOT contains(b.c[2], "x")
	// (attribute_not_exists(a) OR ((#a = :v) AND (NOT contains(b.c[2], :v)))) true
}
