package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// pages are the documents whose commands a reader can type into an empty folder, one after the other. The test runs
// each page in that way. The help of sortkey counts as a page too. A server in memory runs for each page, for the
// commands that name no other database, because the reader has started one.
var pages = []string{"README.md", "docs/embedded.md", "docs/operations.md", "docs/workbench.md", "sortkey help"}

// apart maps the beginnings of commands that cannot run in an empty folder to the reason. Of those that are sortkey
// commands, the test checks the flags.
var apart = map[string]string{
	"sortkey serve":                        "it serves until it is stopped; TestScripts/serve starts it with these flags",
	"sortkey design open":                  "it serves until it is stopped; TestScripts/design-open starts it",
	"sortkey design check shop.yaml --aga": "it needs a server at the address; TestScripts/design-check-running has one",
	"sortkey design import --from http:":   "it needs a server at the address; TestScripts/design-import has a folder",
	"sortkey console":                      "it serves until it is stopped; TestScripts/console starts it",
	"sortkey shell http://":                "it needs a server at the address; TestScripts/shell starts one",
	"sortkey shell postgres://":            "it needs PostgreSQL; TestScripts/items-postgres has one",
	"sortkey init --store":                 "it needs PostgreSQL; TestScripts/serve-postgres has one",
	"sortkey bench":                        "it measures for minutes, on an idle machine",
	"aws dynamodb":                         "it needs the AWS CLI",
	"curl ":                                "it needs the server of the line before",
	"go get ":                              "it needs the network",
	"go test":                              "it is run in a checkout",
	"GOWORK=":                              "it is run in a checkout",
	"go run ":                              "it is run in a checkout",
	"go tool ":                             "it needs the server of the line before",
	"scripts/":                             "it is run in a checkout",
	"./sortkey-tikv ":                      "it needs TiKV",
	"CGO_ENABLED=0 go build ":              "it is run in a checkout",
	"grep -E 'VmRSS|RssAnon' /proc/$!/st":  "it needs the server of the line before",
	"export AWS_ENDPOINT_URL_DYNAMODB=":    "it points at the server of the line before",
}

// given maps pages to commands that create what, by the page, its reader has already.
var given = map[string]string{
	"docs/workbench.md": `echo '{"Parameters": {"Stage": {"Type": "String"}}, "Resources": {"Shop": {
		"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": {"Fn::Sub": "shop-${Stage}"},
		"AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}]}}}}' >template.yaml &&
		echo '{"PK": {"S": "C#1"}, "total": {"N": "12"}}' >items.json && mkdir keys`,
	"docs/operations.md": `mkdir seeds &&
		echo '{"Orders": [{"PutRequest": {"Item": {"customer": {"S": "c9"}, "order": {"N": "1"}}}}]}' >seeds/orders.json`,
}

// TestPages runs the commands of all pages.
func TestPages(t *testing.T) {
	proptest.NeedLong(t)
	shell, err := exec.LookPath("sh")
	if err != nil || testing.Short() {
		t.Skip("there is no sh, or the time is short")
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			env := append(os.Environ(), "NO_COLOR=1", "HOME="+dir, "XDG_STATE_HOME="+dir,
				"AWS_ENDPOINT_URL_DYNAMODB="+serveEmpty(t), "AWS_ENDPOINT_URL=")
			run := func(command string) ([]byte, error) {
				cmd := exec.Command(shell, "-c", command)
				cmd.Dir, cmd.Env = dir, env
				return cmd.CombinedOutput()
			}
			if out, err := run(given[page]); err != nil {
				t.Fatalf("what is given: %v\n%s", err, out)
			}
			for _, command := range commandsOf(t, page, run) {
				reason := apartFor(command)
				switch {
				case reason == "":
				case strings.HasPrefix(command, "sortkey "):
					command = withHelp(command)
				default:
					continue
				}
				if out, err := run(command); err != nil {
					t.Errorf("%s: %v\n%s", command, err, out)
				}
			}
		})
	}
}

// serveEmpty starts a server without tables and returns its URL.
func serveEmpty(t *testing.T) string {
	cmd := exec.Command("sortkey", "serve", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := make([]byte, 4096)
	n, err := out.Read(line)
	_, url, ok := strings.Cut(string(line[:n]), "AWS_ENDPOINT_URL_DYNAMODB=")
	if err != nil || !ok {
		t.Fatalf("serve printed %q (%v)", line[:n], err)
	}
	go func() {
		for err == nil { // drain the output, so that the server can go on
			_, err = out.Read(line)
		}
	}()
	return strings.Fields(url)[0]
}

// remark matches a remark after a command, which follows a number sign or several spaces.
var remark = regexp.MustCompile(`(\s+# .*|\s{3,}[a-z].*)$`)

// commandsOf returns the commands of a page: those lines of indented blocks that begin with sortkey or with a key of
// apart.
func commandsOf(t *testing.T, page string, run func(string) ([]byte, error)) (commands []string) {
	var text, indent string
	if page == "sortkey help" {
		out, err := run(page)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(string(out), "Examples:\n")
		text, _, _ = strings.Cut(text, "\n\n")
		indent = "  "
	} else {
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		text, indent = string(data), "    "
	}

	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, indent)
		if !ok || !strings.HasPrefix(command, "sortkey ") && apartFor(command) == "" {
			continue
		}
		commands = append(commands, strings.TrimSpace(remark.ReplaceAllString(strings.TrimSpace(command), "")))
	}
	if commands == nil && page != "docs/embedded.md" { // TestEmbedded runs the code of docs/embedded.md
		t.Errorf("%s has no commands", page)
	}
	return commands
}

func apartFor(command string) string {
	for begin, reason := range apart {
		if strings.HasPrefix(command, begin) {
			return reason
		}
	}
	return ""
}

// withHelp adds --help to a command, so that it only checks its flags.
func withHelp(command string) string {
	command, _, _ = strings.Cut(command, " & ")
	return command + " --help >/dev/null"
}
