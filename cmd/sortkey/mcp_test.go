package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// talk implements the script command mcp: mcp FILE FLAG… starts sortkey mcp with the flags, calls the tools in the
// lines of a file with the SDK's client, and writes the answers to mcp.out. After an exclamation mark, the last call
// must fail.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, lookup(ts, "sortkey"), append([]string{"mcp"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + cmd.Dir}
	var transport mcp.Transport = &mcp.CommandTransport{Command: cmd, TerminateDuration: timeout}
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
	ts.Check(os.WriteFile(filepath.Join(cmd.Dir, "mcp.out"), []byte(b.String()), 0o666))
	if failed != neg {
		ts.Fatalf("the last call failed: %v, want %v\n%s", failed, neg, b.String())
	}
}
