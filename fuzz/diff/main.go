package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ours := flag.String("ours", "http://127.0.0.1:8000", "our endpoint")
	peer := flag.String("peer", "", "the other one, as name=url")
	requests := flag.Int("requests", 20_000, "how many requests to send")
	seed := flag.Uint64("seed", 1, "where the requests come from")
	show := flag.Int("show", 40, "how many unexplained differences to print")
	ops := flag.String("skip", "", "operations the peer does not have, separated by commas")
	list := flag.Bool("list", false, "print the requests, a line each, and send none")
	flag.Parse()
	if *list {
		if err := printRequests(os.Stdout, newGenerator(*seed), *requests); err != nil {
			fmt.Fprintln(os.Stderr, "diff:", err)
			os.Exit(1)
		}
		return
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name, url, ok := strings.Cut(*peer, "=")
	if !ok {
		fmt.Fprintln(os.Stderr, "diff: --peer needs a name and an address, as dynalite=http://127.0.0.1:4567")
		os.Exit(2)
	}

	r := runner{
		ours: *ours, peer: url, name: name, skip: strings.Split(*ops, ","), found: map[string]*finding{},
		known: map[string]int{}, taps: map[tapKey]*tap{}, tainted: map[string]bool{},
	}
	if err := r.run(ctx, newGenerator(*seed), *requests); err != nil {
		fmt.Fprintln(os.Stderr, "diff:", err)
		os.Exit(2)
	}
	if !r.report(os.Stdout, *seed, *show) {
		os.Exit(1)
	}
}

// printRequests prints the first n requests of g, as command replay reads them.
func printRequests(w io.Writer, g *generator, n int) error {
	out := bufio.NewWriter(w)
	for range n {
		req := g.next()
		body, err := json.Marshal(req.body)
		if err != nil {
			return err
		}
		if req.op != readStream {
			fmt.Fprintf(out, "%s %s\n", req.op, body)
		}
	}
	return out.Flush()
}

// finding is a group of differences.
type finding struct {
	kind, signature string
	count           int
	first           string
}

type runner struct {
	ours, peer, name string
	skip             []string
	sent             int
	equal, different int
	found            map[string]*finding
	known            map[string]int
	taps             map[tapKey]*tap
	tainted          map[string]bool // items whose changes differ since their stream was read
}

func (r *runner) run(ctx context.Context, g *generator, n int) error {
	for r.sent < n {
		req := g.next()
		if slices.Contains(r.skip, req.op) {
			continue
		}
		if req.op == readStream {
			if err := r.compareStream(ctx, req); err != nil {
				return fmt.Errorf("request %d, %s %s: %w", r.sent+1, req.op, text(req.body), err)
			}
			continue
		}

		body, err := json.Marshal(req.body)
		if err != nil {
			return err
		}
		a, err := send(ctx, r.ours, req.op, body)
		if err != nil {
			return fmt.Errorf("request %d, %s %s: %w", r.sent+1, req.op, body, err)
		}

		b, err := send(ctx, r.peer, req.op, body)
		if err != nil {
			if b, err = r.revive(ctx, err); err != nil {
				return fmt.Errorf("request %d, %s %s: %w", r.sent+1, req.op, body, err)
			}
		}

		r.sent++
		if req.op == "CreateTable" && a.status == 200 && b.status == 200 {
			if err := r.await(ctx, req.body["TableName"].(string)); err != nil {
				return err
			}
		}

		r.note(req, body, a, b)
		same := (a.status == 200) == (b.status == 200)
		if same {
			if same, err = r.verify(ctx, req, a.status); err != nil {
				return err
			}
		}
		if !same || r.name == "moto" && unrecorded(req) {
			r.taint(req)
		}
		if !same {
			if err := r.resync(ctx, req); err != nil {
				return err
			}
		}
	}
	return nil
}

// verify reads what a write left on both sides, also one that was refused, and
// reports whether it is the same.
func (r *runner) verify(ctx context.Context, req request, status int) (bool, error) {
	then := req.op + ", then GetItem"
	if status != http.StatusOK {
		then = req.op + refusedThen
	}

	for _, d := range written(req) {
		d["ConsistentRead"] = true
		body, err := json.Marshal(d)
		if err != nil {
			return false, err
		}

		a, err := send(ctx, r.ours, "GetItem", body)
		if err != nil {
			return false, err
		}
		b, err := send(ctx, r.peer, "GetItem", body)
		if err != nil {
			return false, err
		}

		if kind, _ := difference("GetItem", a, b); kind != "" && !settled(r.name, a, b) {
			after, err := json.Marshal(req.body)
			if err != nil {
				return false, err
			}
			r.note(request{op: then, body: req.body, keys: req.keys}, after, a, b)
			return false, nil
		}
	}
	return true, nil
}

// resync deletes on both sides the items of a write that only one side took,
// so that one difference does not show again and again.
func (r *runner) resync(ctx context.Context, req request) error {
	for _, d := range written(req) {
		body, err := json.Marshal(d)
		if err != nil {
			return err
		}
		for _, url := range []string{r.ours, r.peer} {
			if _, err := send(ctx, url, "DeleteItem", body); err != nil {
				return err
			}
		}
	}
	return nil
}

// written returns a DeleteItem for every item that a request may have written.
// Items to put are cut down to what generated keys are made of.
func written(req request) (deletes []object) {
	add := func(name, key any) {
		k, ok := key.(object)
		if !ok {
			return
		}
		cut := object{}
		for _, n := range []string{"pk", "sk"} {
			if v, ok := k[n]; ok {
				cut[n] = v
			}
		}
		deletes = append(deletes, object{"TableName": name, "Key": cut})
		if mended, ok := mendBase64(cut); ok {
			deletes = append(deletes, object{"TableName": name, "Key": mended})
		}
	}
	walk := func(name any, v any) {
		o, _ := v.(object)
		add(name, o["Item"])
		add(name, o["Key"])
	}

	for _, d := range req.keys {
		add(d["TableName"], d["Key"])
	}
	switch req.op {
	case "PutItem", "UpdateItem", "DeleteItem":
		walk(req.body["TableName"], req.body)
	case "BatchWriteItem":
		tables, _ := req.body["RequestItems"].(object)
		for name, writes := range tables {
			l, _ := writes.([]any)
			for _, w := range l {
				o, _ := w.(object)
				walk(name, o["PutRequest"])
				walk(name, o["DeleteRequest"])
			}
		}
	case "TransactWriteItems":
		l, _ := req.body["TransactItems"].([]any)
		for _, item := range l {
			o, _ := item.(object)
			for _, a := range o {
				action, _ := a.(object)
				walk(action["TableName"], a)
			}
		}
	}
	return deletes
}

// mendBase64 returns a key without the characters in its binary values that
// are not of base64, and whether there are any: a peer that overlooks them has
// written to another item.
func mendBase64(key object) (mended object, ok bool) {
	mended = object{}
	for name, v := range key {
		o, _ := v.(object)
		b, _ := o["B"].(string)
		mended[name] = v
		if good := strings.Map(ofBase64, b); good != b {
			mended[name], ok = object{"B": good}, true
		}
	}
	return mended, ok
}

func ofBase64(r rune) rune {
	if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+/=", r) {
		return r
	}
	return -1
}

// refusedThen follows the operation of a write that was refused, and yet left
// different items.
const refusedThen = ", refused, then GetItem"

// revive waits for a peer that ended instead of answering, which scripts/diff.sh
// starts again with the same data, and returns what stands for its answer.
func (r *runner) revive(ctx context.Context, cause error) (answer, error) {
	for range 100 {
		select {
		case <-ctx.Done():
			return answer{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if a, err := send(ctx, r.peer, "ListTables", []byte("{}")); err == nil && a.status == http.StatusOK {
			return answer{code: noAnswer, text: "the peer ended", raw: cause.Error()}, nil
		}
	}
	return answer{}, cause
}

// noAnswer stands for the code of a peer that ended.
const noAnswer = "(no answer)"

// await waits until the peer's new table can be used.
func (r *runner) await(ctx context.Context, name string) error {
	body, err := json.Marshal(object{"TableName": name})
	if err != nil {
		return err
	}
	for range 100 {
		b, err := send(ctx, r.peer, "DescribeTable", body)
		if err != nil {
			return err
		}
		if strings.Contains(b.raw, `"TableStatus":"ACTIVE"`) || strings.Contains(b.raw, `"TableStatus": "ACTIVE"`) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("table " + name + " of the peer does not become ACTIVE")
}

// note counts the answers to a request as equal, explained or different.
func (r *runner) note(req request, body []byte, a, b answer) {
	op := req.op
	kind, signature := difference(op, a, b)
	if kind == "" {
		r.equal++
		return
	}

	r.different++
	if kind == "body" {
		reasons, x, y := forgive(r.name, op, a, b)
		if text(x.body) == text(y.body) {
			r.known[strings.Join(reasons, "; ")]++
			return
		}
		// What is left is looked at by itself.
		a, b = x, y
		_, signature = difference(op, a, b)
	}

	if reason := explain(r.name, &pair{req: req, kind: kind, signature: signature, ours: a, peer: b}); reason != "" {
		r.known[reason]++
		return
	}
	f := r.found[signature]
	if f == nil {
		f = &finding{
			kind: kind, signature: signature,
			first: fmt.Sprintf(
				"request %d: %s %s\n    ours %d %s\n    peer %d %s",
				r.sent, op, body, a.status, clip(a.raw), b.status, clip(b.raw),
			),
		}
		r.found[signature] = f
	}

	f.count++
}

func clip(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}

// report prints the summary and reports whether every difference is explained.
func (r *runner) report(w io.Writer, seed uint64, show int) bool {
	unexplained := 0
	for _, f := range r.found {
		unexplained += f.count
	}
	fmt.Fprintf(
		w, "%d requests to %s, seed %d: %d equal, %d explained, %d unexplained\n", r.sent, r.name, seed, r.equal,
		r.different-unexplained, unexplained,
	)
	for _, reason := range slices.Sorted(maps.Keys(r.known)) {
		fmt.Fprintf(w, "%7d  %s\n", r.known[reason], reason)
	}
	findings := slices.Collect(maps.Values(r.found))
	slices.SortFunc(findings, func(a, b *finding) int {
		if a.count != b.count {
			return b.count - a.count
		}
		return strings.Compare(a.signature, b.signature)
	})
	for _, f := range findings[:min(show, len(findings))] {
		fmt.Fprintf(w, "\n%7d  %s: %s\n    %s\n", f.count, f.kind, f.signature, f.first)
	}
	return unexplained == 0
}

var client = &http.Client{Timeout: 30 * time.Second}

// send sends a request with credentials that any emulator takes.
func send(ctx context.Context, url, op string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", target(op))
	req.Header.Set("X-Amz-Date", "20260101T000000Z")
	req.Header.Set(
		"Authorization",
		"AWS4-HMAC-SHA256 Credential=diff/20260101/us-east-1/dynamodb/aws4_request, "+
			"SignedHeaders=host;x-amz-date;x-amz-target, Signature="+strings.Repeat("0", 64),
	)
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 32<<20))
	if err != nil {
		return answer{}, err
	}
	return parse(op, res.StatusCode, raw), nil
}
