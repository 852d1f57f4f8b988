package wire_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/wire"
)

// check decodes a body and validates it. It returns the error's text, or "".
func check(t *testing.T, op wire.Op, body string) string {
	t.Helper()
	in := op.NewInput()
	if err := wire.Decode([]byte(body), in); err != nil {
		t.Fatalf("%v.Decode(%s) = %v", op, body, err)
	}
	return message(t, wire.Validate(op, in))
}

// message returns the text of a ValidationException, or "" if there is no error.
func message(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		t.Fatalf("error is %T, want *wire.Error", err)
	}
	if e.Code != wire.CodeValidation || e.Status != 400 {
		t.Fatalf("error is %s with status %d, want a ValidationException with 400", e.Code, e.Status)
	}
	return e.Message
}

// TestTextsAreBounded checks that a message does not repeat all of a text that is too long, however many such texts
// there are.
func TestTextsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 4<<20)
	statements := strings.TrimSuffix(strings.Repeat(`{"Statement":"`+strings.Repeat("x", 1<<20)+`"},`, 12), ",")
	for _, tt := range []struct {
		op   wire.Op
		body string
	}{
		{wire.OpExecuteStatement, `{"Statement":"` + long + `"}`},
		{wire.OpBatchExecuteStatement, `{"Statements":[` + statements + `]}`},
		{wire.OpPutItem, `{"TableName":"abc","Item":{},"ReturnConsumedCapacity":"` + long + `"}`},
		{
			wire.OpBatchWriteItem,
			`{"RequestItems":{"` + long + `":[{"PutRequest":{}},{"PutRequest":{}},{"PutRequest":{}}]}}`,
		},
	} {
		got := check(t, tt.op, tt.body)
		if len(got) > 600<<10 || !strings.Contains(got, "...") || !utf8.ValidString(got) {
			t.Errorf("%v: the message has %d bytes: %.100s", tt.op, len(got), got)
		}
	}
}

func TestEchoIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"RequestItems":{"abc":[`)
	for i := range 26 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"PutRequest":{"Item":{"a":{"L":[` +
			strings.TrimSuffix(strings.Repeat(`{"S":"x"},`, 5000), ",") + `]}}}}`)
	}
	b.WriteString(`]}}`)
	got := check(t, wire.OpBatchWriteItem, b.String())
	if len(got) > 1<<20 {
		t.Errorf("the message has %d bytes", len(got))
	}
	if !strings.HasSuffix(got, "length less than or equal to 25, Member must have length greater than or equal to 1]") {
		t.Errorf("the message ends in %q", got[len(got)-300:])
	}
}
