//go:build js && wasm

// Command engine runs in a web worker of the playground. It answers the requests of its page, which are
// messages, with the handler that answers those of sortkey design open.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall/js"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/live"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/playground"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/server"
)

func main() {
	worker := js.Global()
	reply := func(message map[string]any) { worker.Call("postMessage", message) }
	e := &engine{reply: reply}
	worker.Call("addEventListener", "message", js.FuncOf(func(_ js.Value, args []js.Value) any {
		m := args[0].Get("data")
		id, method := m.Get("id").Int(), m.Get("method").String()
		path, body, kind := m.Get("path").String(), m.Get("body").String(), m.Get("type").String()
		go func() {
			status, text := e.answer(context.Background(), method, path, body, kind)
			reply(map[string]any{"id": id, "status": status, "body": text})
		}()
		return nil
	}))
	reply(map[string]any{"event": "ready"})
	select {}
}

// An engine has one page.
type engine struct {
	reply   func(message map[string]any)
	handler http.Handler // nil before start
}

// answer answers a request as a server does. The first one is POST start: see [engine.start].
func (e *engine) answer(ctx context.Context, method, path, body, kind string) (status int, text string) {
	if path == "start" {
		return e.start(ctx, body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://playground/"+path, strings.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	req.Header.Set("Content-Type", kind)
	resp, err := server.Transport{Handler: e.handler}.RoundTrip(req)
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	return resp.StatusCode, string(data)
}

// start begins with a model, a [live.Source] without a version. If the model has errors, the page may start
// with another one.
func (e *engine) start(ctx context.Context, body string) (status int, message string) {
	var from live.Source
	if err := json.Unmarshal([]byte(body), &from); err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	s, err := live.NewDraft(ctx, playground.ModelName, from.Text, from.Findings, playground.Options())
	if _, ok := errors.AsType[model.Errors](err); ok {
		return http.StatusBadRequest, err.Error()
	}
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}

	e.handler = s.Handler()
	events, _ := s.Listen()
	go s.Follow(ctx)
	go func() {
		for event := range events {
			e.reply(map[string]any{"event": event})
		}
	}()
	return http.StatusOK, ""
}
