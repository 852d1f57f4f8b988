package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/mcp"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
)

// A client calls the tools of a server.
type client struct {
	t       testing.TB
	session *protocol.ClientSession
}

// connect connects the SDK's client to a server with options, through memory.
func connect(t testing.TB, o mcp.Options) *client {
	t.Helper()
	o.Explain = app.Explain
	s := mcp.New(o)
	theirs, ours := protocol.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Connect(ctx, ours) }()
	session, err := protocol.NewClient(&protocol.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, theirs, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, session.Close())
		require.NoError(t, <-done)
		cancel()
	})
	return &client{t, session}
}

// try calls a tool with arguments in JSON.
func (c *client) try(tool, arguments string) (answer string, failed bool) {
	c.t.Helper()
	params := &protocol.CallToolParams{Name: tool}
	if arguments != "" {
		params.Arguments = json.RawMessage(arguments)
	}
	r, err := c.session.CallTool(context.Background(), params)
	require.NoError(c.t, err, "%s %s", tool, arguments)
	require.Len(c.t, r.Content, 1)
	return r.Content[0].(*protocol.TextContent).Text, r.IsError
}

// call calls a tool, which must succeed.
func (c *client) call(tool, arguments string) string {
	c.t.Helper()
	answer, failed := c.try(tool, arguments)
	require.False(c.t, failed, "%s %s: %s", tool, arguments, answer)
	return answer
}

// fail calls a tool that fails.
func (c *client) fail(tool, arguments string) string {
	c.t.Helper()
	answer, failed := c.try(tool, arguments)
	require.True(c.t, failed, "%s %s: %s", tool, arguments, answer)
	return answer
}

// on returns the options for a database that tools may write to.
func on(db *sortkey.DB) mcp.Options {
	return mcp.Options{Target: explain.InProcess(db), Write: true}
}

// example returns the options for a database with the items of an example. If samples is set, it has no generated
// items.
func example(t testing.TB, name string, samples bool) mcp.Options {
	t.Helper()
	m, err := models.Example(name)
	require.NoError(t, err)
	size := dataset.Options{MaxItems: 500}
	if samples {
		size.MaxItems = -1
	}
	w, err := dataset.Build(context.Background(), m, size)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	o := on(w.DB)
	o.Model, o.About = w.Model, "the example "+name
	return o
}

// TestConversations replays the conversations in the files of testdata/conversations. A directive calls a tool with
// its arguments. The directive file defines a file of the client, which passes its text in place of its name. After
// "# " is what the language model concludes from the answer.
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "internal/mcp/testdata/conversations", func(t *testing.T, path string) {
		files := map[string]string{}
		var c *client
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "open" {
				c = connect(t, example(t, d.CmdArgs[0].Key, false))
				return ""
			}
			arguments := strings.TrimSpace(d.Input)
			if d.Cmd == "file" {
				files[d.CmdArgs[0].Key] = d.Input
				return ""
			}
			for name, text := range files { // which the client passes
				raw, err := json.Marshal(text + "\n")
				require.NoError(t, err)
				arguments = strings.ReplaceAll(arguments, `"`+name+`"`, string(raw))
			}
			answer, failed := c.try(d.Cmd, arguments)
			if failed {
				answer = "error: " + answer
			}
			return strings.TrimRight(answer, "\n") + "\n"
		})
	})
}
