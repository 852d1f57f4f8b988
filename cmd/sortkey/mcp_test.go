package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// talk is the command mcp of scripts: mcp FILE FLAG… starts sortkey mcp with the flags, calls the tools in
// the lines of a file with the SDK's own client, over HTTP if --http is a flag, and writes the answers to
// mcp.out. With an exclamation mark before it, the last call must fail.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, lookup(ts, "sortkey"), append([]string{"mcp"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + cmd.Dir}
	if token := ts.Getenv("SORTKEY_MCP_TOKEN"); token != "" {
		cmd.Env = append(cmd.Env, "SORTKEY_MCP_TOKEN="+token)
	}
	var transport mcp.Transport = &mcp.CommandTransport{Command: cmd, TerminateDuration: patience}
	overHTTP := slices.Contains(args, "--http")
	if overHTTP {
		out, err := cmd.StdoutPipe()
		ts.Check(err)
		ts.Check(cmd.Start())
		lines := bufio.NewScanner(out)
		lines.Scan()
		address, token := lines.Text(), "Bearer "+ts.Getenv("SORTKEY_MCP_TOKEN")
		if token == "Bearer " {
			lines.Scan()
			token = strings.TrimPrefix(lines.Text(), "Authorization: ")
		}
		transport = &mcp.StreamableClientTransport{
			Endpoint: address, HTTPClient: &http.Client{Transport: authorized(token)}, MaxRetries: -1,
		}
	}

	session, err := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil).Connect(ctx, transport, nil)
	ts.Check(err)
	var b strings.Builder
	failed := false
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		tool, arguments, _ := strings.Cut(strings.TrimSpace(line), " ")
		if tool == "" {
			continue
		}
		params := &mcp.CallToolParams{Name: tool}
		if arguments != "" {
			params.Arguments = json.RawMessage(arguments)
		}
		r, err := session.CallTool(ctx, params)
		ts.Check(err)
		failed = r.IsError
		fmt.Fprintf(&b, "> %s%s\n", line, r.Content[0].(*mcp.TextContent).Text)
	}
	ts.Check(session.Close())
	if overHTTP {
		ts.Check(cmd.Process.Signal(os.Interrupt))
		ts.Check(cmd.Wait())
	}
	ts.Check(os.WriteFile(filepath.Join(cmd.Dir, "mcp.out"), []byte(b.String()), 0o666))
	if failed != neg {
		ts.Fatalf("the last call failed: %v, want %v\n%s", failed, neg, b.String())
	}
}

// authorized sends a header with every request.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(a))
	return http.DefaultTransport.RoundTrip(r)
}
