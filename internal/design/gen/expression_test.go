package gen_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/wire"
)

// A written is a request with its code in a language.
type written struct {
	op, body string
	text     map[string]string
}

// TestRequest writes each request in each language, runs the code, and compares the requests that it sends.
func TestRequest(t *testing.T) {
	var all []written
	datadriven.RunTest(t, "testdata/requests", func(t *testing.T, d *datadriven.TestData) string {
		op := d.CmdArgs[0].Key
		w := written{op: op, body: d.Input, text: map[string]string{}}
		var out strings.Builder
		for _, lang := range gen.Languages() {
			text, err := request(op, d.Input, lang)
			if err != nil {
				return "error: " + err.Error()
			}
			w.text[lang] = text
			out.WriteString("-- " + lang + "\n" + text)
		}
		all = append(all, w)
		return out.String()
	})
	require.NotEmpty(t, all)
	t.Run("aws", func(t *testing.T) { runShell(t, all) })
	t.Run("go", func(t *testing.T) { runGo(t, all) })
	t.Run("python", func(t *testing.T) { runPython(t, all) })
	t.Run("js", func(t *testing.T) { runJS(t, all) })
}

func TestUnknownLanguage(t *testing.T) {
	if _, err := request("Query", `{"TableName":"T"}`, "cobol"); err == nil || !strings.Contains(err.Error(), "aws, go, python, js") {
		t.Errorf("Request in cobol = %v", err)
	}
}

// request writes the JSON of a request as code in a language.
func request(op, body, lang string) (string, error) {
	in, err := wire.DecodeRequest(op, []byte(body))
	if err != nil {
		return "", err
	}
	return gen.Request(in, lang)
}

// same compares two requests after it has normalized their attribute values.
func same(t *testing.T, want, got string) {
	t.Helper()
	require.JSONEq(t, normal(t, want), normal(t, got))
}

func normal(t *testing.T, body string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &members), body)
	for name, raw := range members {
		switch name {
		case "Key", "ExpressionAttributeValues", "ExclusiveStartKey":
			it, err := attr.ParseItem(raw)
			require.NoError(t, err, string(raw))
			members[name] = it.AppendJSON(nil)
		}
	}
	out, err := json.Marshal(members)
	require.NoError(t, err)
	return string(out)
}

// runShell lets a shell split each command into words, and parses the words as a request.
func runShell(t *testing.T, all []written) {
	for _, w := range all {
		script := `aws() { for word in "$@"; do printf '%s\0' "$word"; done; }; ` + w.text["aws"]
		out, err := exec.Command("sh", "-c", script).Output()
		require.NoError(t, err, w.text["aws"])
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		require.Equal(t, []string{"dynamodb", map[string]string{"Query": "query", "GetItem": "get-item", "Scan": "scan"}[w.op]}, words[:2])
		request := map[string]any{}
		for i := 2; i < len(words); {
			name := camel(t, words[i])
			var args []string
			for i++; i < len(words) && !strings.HasPrefix(words[i], "--"); i++ {
				args = append(args, words[i])
			}
			switch {
			case len(args) == 0:
				no := strings.HasPrefix(name, "No")
				request[strings.TrimPrefix(name, "No")] = !no
			case strings.HasPrefix(args[0], "{"), name == "Limit", strings.HasSuffix(name, "Segment"), strings.HasSuffix(name, "Segments"):
				request[name] = json.RawMessage(args[0])
			default:
				request[name] = args[0]
			}
		}
		got, err := json.Marshal(request)
		require.NoError(t, err)
		same(t, w.body, string(got))
	}
}

func camel(t *testing.T, option string) string {
	rest, ok := strings.CutPrefix(option, "--")
	require.True(t, ok, option)
	var name strings.Builder
	for part := range strings.SplitSeq(rest, "-") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

// runGo compiles the calls into a program, and compares the requests that its client sends.
func runGo(t *testing.T, all []written) {
	var calls strings.Builder
	for _, w := range all {
		calls.WriteString("\t{\n" + w.text["go"] + "_, _ = out, err\n}\n")
	}
	program := `package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type printer struct{}

func (printer) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	fmt.Println(string(body))
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, err
}

func main() {
	ctx := context.Background()
	client := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String("http://localhost"), Credentials: aws.AnonymousCredentials{}, HTTPClient: printer{}})
	_ = types.AttributeValueMemberS{}
` + calls.String() + "}\n"
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	cmd := exec.Command("go", "run", file)
	compare(t, all, cmd)
}

// compare runs a program that prints a request on each line, and compares these with all.
func compare(t *testing.T, all []written, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stderr = new(strings.Builder)
	out, err := cmd.Output()
	require.NoError(t, err, "%v", cmd.Stderr)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, len(all))
	for i, w := range all {
		same(t, w.body, lines[i])
	}
}

// runPython runs the calls with a client that prints the requests.
func runPython(t *testing.T, all []written) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 not found: skipping the Python calls")
	}
	script := `import base64, json, sys, types
fake = types.ModuleType("boto3")
def plain(v):
    return base64.b64encode(v).decode() if isinstance(v, bytes) else repr(v)
class Client:
    def __getattr__(self, name):
        return lambda **request: print(json.dumps(request, default=plain))
fake.client = lambda service: Client()
sys.modules["boto3"] = fake
`
	for _, w := range all {
		script += w.text["python"]
	}
	cmd := exec.Command(python, "-")
	cmd.Stdin = strings.NewReader(script)
	compare(t, all, cmd)
}

// runJS runs the calls with a client that prints the requests.
func runJS(t *testing.T, all []written) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node not found: skipping the JavaScript calls")
	}
	dir := t.TempDir()
	pkg := filepath.Join(dir, "node_modules", "@aws-sdk", "client-dynamodb")
	require.NoError(t, os.MkdirAll(pkg, 0o700))
	files := map[string]string{
		filepath.Join(pkg, "package.json"): `{"type": "module", "main": "index.js"}`,
		filepath.Join(pkg, "index.js"): `class Command { constructor(input) { this.input = input; } }
export { Command as QueryCommand, Command as GetItemCommand, Command as ScanCommand };
const plain = (key, v) => v instanceof Uint8Array ? Buffer.from(v).toString("base64") : v;
export class DynamoDBClient { async send(command) { console.log(JSON.stringify(command.input, plain)); } }
`,
	}
	main := ""
	for i, w := range all {
		name := "call" + string(rune('a'+i)) + ".mjs"
		files[filepath.Join(dir, name)] = w.text["js"]
		main += `await import("./` + name + "\");\n"
	}
	files[filepath.Join(dir, "main.mjs")] = main
	for name, content := range files {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	compare(t, all, exec.Command(node, filepath.Join(dir, "main.mjs")))
}

// FuzzRequest holds that no request panics, and that its code is complete.
func FuzzRequest(f *testing.F) {
	f.Add("Query", `{"TableName": "T", "ExpressionAttributeValues": {":a": {"B": "`+base64.StdEncoding.EncodeToString([]byte("\xff"))+`"}}}`)
	f.Add("Scan", `{"TableName": "T", "ScanFilter": {"a": {"ComparisonOperator": "IN", "AttributeValueList": [{"L": [{"NULL": true}]}]}}}`)
	f.Add("GetItem", `{"Key": {"a": {"M": {"b": {"BOOL": "yes"}}}}, "AttributesToGet": ["x"]}`)
	f.Fuzz(func(t *testing.T, op, body string) {
		for _, lang := range gen.Languages() {
			text, err := request(op, body, lang)
			if (err == nil) != (text != "") {
				t.Fatalf("Request(%q, %q, %q) = %q, %v", op, body, lang, text, err)
			}
		}
	})
}

// TestLegacy holds that no legacy member of a request is written as code.
func TestLegacy(t *testing.T) {
	const condition = `{"a": {"ComparisonOperator": "NULL"}}`
	for member, value := range map[string]string{
		"KeyConditions": condition, "QueryFilter": condition, "ConditionalOperator": `"OR"`, "AttributesToGet": `["a"]`,
	} {
		_, err := request("Query", fmt.Sprintf(`{"TableName": "T", %q: %s}`, member, value), "go")
		require.EqualError(t, err, member+" is a legacy parameter: write it as an expression")
	}
	_, err := request("Scan", `{"TableName": "T", "ScanFilter": `+condition+`}`, "go")
	require.EqualError(t, err, "ScanFilter is a legacy parameter: write it as an expression")
}
