package console_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A field is an attribute in the form of an item, as its page sends it.
type field struct{ Name, Shown, Type, Value string }

// form asks for the fields of an item whose JSON is DynamoDB JSON.
func (c *client) form(where, is string) (status int, fields []field, text string) {
	c.Helper()
	body, err := json.Marshal(map[string]any{"Is": is, "To": "fields"})
	require.NoError(c, err)
	status, text = c.do(http.MethodPost, "convert"+where, string(body))
	if status == http.StatusOK {
		require.NoError(c, json.Unmarshal([]byte(text), &fields))
	}
	return status, fields, text
}

// as sends an item as fields.
func (c *client) as(path, where, sum, to string, fields []field) (status int, text string) {
	c.Helper()
	body, err := json.Marshal(map[string]any{"Sum": sum, "Fields": fields, "To": to})
	require.NoError(c, err)
	return c.do(http.MethodPost, path+where, string(body))
}

// deep returns a value of so many lists and maps inside each other.
func deep(levels int) string {
	v := `{"B": "AP8="}`
	for i := range levels {
		if i%2 == 0 {
			v = `{"L": [` + v + `]}`
		} else {
			v = `{"M": {"S": ` + v + `}}`
		}
	}
	return v
}

// TestFields holds that each value comes back from the form as it is, also through the other views of an item, and how
// the form shows it.
func TestFields(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	const where = "?name=Tab"
	text, err := json.Marshal("a\"\n\tb é日\U0001f600 <b>")
	require.NoError(t, err)
	for _, tt := range []struct{ is, typ, value string }{
		{`{"S": ` + string(text) + `}`, "S", "a\"\n\tb é日\U0001f600 <b>"},
		{`{"S": ""}`, "S", ""},
		{`{"S": " x "}`, "S", " x "},
		{`{"S": "a\r\nb"}`, "JSON", `{"S": "a\u000d\nb"}`},
		{`{"S": "a\u202eb\u0000"}`, "JSON", `{"S": "a\u202eb\u0000"}`},
		{`{"S": "42"}`, "S", "42"},
		{`{"N": "12345678901234567890123456789012345678"}`, "N", "12345678901234567890123456789012345678"},
		{`{"N": "-1.5E-130"}`, "N", ""},
		{`{"N": "9.9999999999999999999999999999999999999E125"}`, "N", ""},
		{`{"BOOL": true}`, "BOOL", "true"},
		{`{"BOOL": false}`, "BOOL", "false"},
		{`{"NULL": true}`, "NULL", ""},
		{`{"B": "AP8="}`, "B", "AP8="},
		{`{"B": ""}`, "B", ""},
		{`{"SS": ["a\r", "]", ""]}`, "SS", `["", "]", "a\r"]`},
		{`{"NS": ["1", "12345678901234567890123456789012345678"]}`, "NS", `[1, 12345678901234567890123456789012345678]`},
		{`{"BS": ["AA==", "AP8="]}`, "BS", `["AA==", "AP8="]`},
		{`{"L": []}`, "L", `[]`},
		{`{"M": {}}`, "M", `{}`},
		{`{"M": {"S": {"S": "x"}}}`, "M", `{"S": "x"}`},
		{`{"L": [{"N": "1.50"}, {"S": "AP8="}, {"NULL": true}]}`, "L", `[1.5, "AP8=", null]`},
		{`{"L": [{"B": "AP8="}]}`, "JSON", `{"L": [{"B": "AP8="}]}`},
		{`{"M": {"tags": {"SS": ["a"]}}}`, "JSON", `{"M": {"tags": {"SS": ["a"]}}}`},
		{deep(31), "JSON", ""},
	} {
		is := `{"id": {"S": "x"}, "v": ` + tt.is + `}`
		status, fields, text := c.form(where, is)
		require.Equal(t, http.StatusOK, status, "%s: %s", tt.is, text)
		require.Equal(t, field{Name: "id", Type: "S", Value: "x"}, fields[0])
		require.Equal(t, tt.typ, fields[1].Type, tt.is)
		switch {
		case tt.value == "":
		case slices.Contains([]string{"JSON", "SS", "NS", "BS", "L", "M"}, tt.typ):
			require.JSONEq(t, tt.value, fields[1].Value)
		default:
			require.Equal(t, tt.value, fields[1].Value, tt.is)
		}
		status, typed := c.as("convert", where, "", "typed", fields)
		require.Equal(t, http.StatusOK, status, typed)
		require.Equal(t, sum(t, is), sum(t, typed), tt.is)
	}
}

// TestFieldNames shows names of any kind, and keeps them.
func TestFieldNames(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id / b")
	names := []string{"constructor", "__proto__", "a\u202eb", "line\nbreak", " space ", "<script>", "日本", strings.Repeat("n", 3000), "a.b", "\x00"}
	item := map[string]map[string]string{"id": {"S": "k"}, "b": {"S": "k"}}
	for _, name := range names {
		item[name] = map[string]string{"N": "1"}
	}
	is, err := json.Marshal(item)
	require.NoError(t, err)
	_, fields, _ := c.form("?name=Tab", string(is))
	require.Len(t, fields, len(item))
	require.Equal(t, []string{"id", "b"}, []string{fields[0].Name, fields[1].Name})
	shown := map[string]string{}
	for _, f := range fields {
		shown[f.Name] = f.Shown
	}
	require.Equal(t, `a\u{202E}b`, shown["a\u202eb"])
	require.Equal(t, "line break", shown["line\nbreak"])
	require.Empty(t, shown["<script>"])
	_, typed := c.as("convert", "?name=Tab", "", "typed", fields)
	require.Equal(t, sum(t, string(is)), sum(t, typed))
}

// TestFieldsRefused holds what the form refuses, and what it says.
func TestFieldsRefused(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	c.db.PutJSON("Tab", []byte(`{"id": {"S": "x"}}`))
	for _, tt := range []struct{ typ, value, want string }{
		{"N", "", `v: "" is not a number`}, {"N", "1e", `v: "1e" is not a number`}, {"N", "123456789012345678901234567890123456789", "is not a number that can be stored"},
		{"N", "1e126", "is not a number that can be stored"}, {"B", "???", "is not base64"}, {"BOOL", "yes", `"yes" is not true or false`},
		{"SS", "a", "is not JSON"}, {"SS", "[]", "write its elements, such as"}, {"SS", "[1]", "write its elements"}, {"SS", `["a", "a"]`, "write its elements"},
		{"NS", `["1"]`, "such as [1, 2]"}, {"BS", `["?"]`, "write its elements"}, {"SS", `"a"`, "a set is written as its elements"}, {"SS", `{"L": []}`, "a set is written"},
		{"L", "{}", "is not a list"}, {"M", "[]", "is not a map"}, {"M", `{}, "w": 1`, "is not JSON"}, {"M", `{"a": 1, "a": 2}`, "v: duplicate object member name \"a\"\n"}, {"L", "", "is not JSON"},
		{"M", `{"b": {"a": 1, "a": 2}}`, `v: duplicate object member name "a" within "/b"`}, {"L", "[1e400]", "v: Number overflow"},
		{"JSON", `{"a": 1}`, "is not DynamoDB JSON"}, {"JSON", `1`, "is not DynamoDB JSON"}, {"JSON", `{"S": 1}`, "is not DynamoDB JSON"}, {"JSON", `{"M": {"a": {"S": 1}}}`, "v: "}, {"JSON", `{"M": {"M": 1}}`, "v: "}, {"JSON", `{"L": ["x"]}`, "v: "}, {"JSON", `{"S": "a", "N": "1"}`, "is not DynamoDB JSON"},
		{"X", "1", "is not JSON"}, {"", "", "is not JSON"}, {"L", strings.Repeat("[", 40) + strings.Repeat("]", 40), "v: Nesting"},
	} {
		status, text := c.as("preview", "?name=Tab", "", "", []field{{Name: "id", Type: "S", Value: "x"}, {Name: "v", Type: tt.typ, Value: tt.value}})
		require.Equal(t, http.StatusBadRequest, status, "%+v: %s", tt, text)
		require.Contains(t, text, tt.want, "%+v", tt)
	}
	id := field{Name: "id", Type: "S", Value: "x"}
	_, text := c.as("put", "?name=Tab", "", "", []field{id, {Type: "S"}})
	require.Contains(t, text, "an attribute has no name")
	_, text = c.as("put", "?name=Tab", "", "", []field{id, id})
	require.Contains(t, text, "the attribute id is there twice")
	status, text := c.as("put", "?name=Tab", "", "", []field{})
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "ValidationException: One or more parameter values were invalid: Missing the key id in the item\n", text)

	is := `{"id": {"S": "x"}`
	for i := range 200 {
		is += fmt.Sprintf(`, "a%d": {"N": "1"}`, i)
	}
	status, _, text = c.form("?name=Tab", is+"}")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "the form shows at most 200 attributes, and the item has 201")
}

// TestPutFields puts an item from the form, with the same condition as a put of its JSON.
func TestPutFields(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	c.db.PutJSON("Tab", []byte(`{"id": {"S": "x"}, "code": {"S": "007"}, "tags": {"SS": ["a"]}}`))
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"x"}}`))
	was := sums.FindStringSubmatch(c.page("item" + where))[1]
	fields := []field{{Name: "id", Type: "S", Value: "x"}, {Name: "code", Type: "N", Value: "007"}, {Name: "tags", Type: "SS", Value: `["a", "b"]`}}
	_, text := c.as("preview", where, was, "", fields)
	require.Contains(t, text, "&#34;007&#34; (S)")
	require.Contains(t, text, "7 (N)")
	status, text := c.as("convert", where, was, "plain", append(fields, field{Name: "b", Type: "B", Value: "AP8="}))
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "plain JSON cannot say the types")
	status, text = c.as("put", where, was, "", fields)
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, sum(t, `{"id": {"S": "x"}, "code": {"N": "7"}, "tags": {"SS": ["a", "b"]}}`), sums.FindStringSubmatch(c.page("item" + where))[1])
	status, _ = c.as("put", where, was, "", fields)
	require.Equal(t, http.StatusConflict, status, "it has changed since")
}
