package mcp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/mcp"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestLines sends lines that are no messages between calls. The session goes on.
func TestLines(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Orders", "PK")
	s := mcp.New(on(db.DB))
	in, send := io.Pipe()
	receive, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Connect(t.Context(), mcp.Lines(in, out)) }()
	answers := bufio.NewReader(receive)
	say := func(line string) map[string]any {
		_, err := io.WriteString(send, line+"\n")
		require.NoError(t, err)
		answer, err := answers.ReadBytes('\n')
		require.NoError(t, err, line)
		var got map[string]any
		require.NoError(t, json.Unmarshal(answer, &got))
		return got
	}
	refused := func(code float64, line string) {
		got := say(line)
		require.Contains(t, got, "id")
		require.Nil(t, got["id"])
		require.InDelta(t, code, got["error"].(map[string]any)["code"], 0, line)
	}

	refused(-32700, "hello")
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`)
	_, err := io.WriteString(send, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n\n")
	require.NoError(t, err)
	call := func(id, tool, arguments string) string {
		got := say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
		require.NotContains(t, got, "error")
		text, err := json.Marshal(got)
		require.NoError(t, err)
		return string(text)
	}
	call("2", "put", `{"table":"Orders","item":{"PK":"after all"}}`)

	for _, line := range []string{"{", `{"jsonrpc":"2.0",`, "\x00", `{"a":1} x`, "\xff", strings.Repeat("[", 20000)} {
		refused(-32700, line)
	}
	for _, line := range []string{
		"1", "null", "[]", "[1]", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{}`, `{"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, strings.Repeat(" x", 9<<20),
	} {
		refused(-32600, line)
	}
	require.Equal(t, map[string]any{"jsonrpc": "2.0", "id": 3.0, "result": map[string]any{}},
		say(`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`))
	require.Contains(t, call("4", "scan", `{"table":"Orders"}`), "after all")

	require.NoError(t, send.Close())
	require.NoError(t, <-done)
}
