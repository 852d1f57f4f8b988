// Command replay sends the requests on its standard input to a new database in this process and prints the responses.
//
// A request is a line, OPERATION BODY, as TestRequests of package fuzz writes them. A response is a line, STATUS
// BODY. The clock advances by a second with each request, and ids come from a fixed seed, so two builds with the same
// behaviour print the same bytes. The command uses only the public API of packages sortkey and server, so that
// scripts/replay.sh can build it at other revisions.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/sortkey/sortkey"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(r io.Reader, w io.Writer) error {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db, err := sortkey.Open(sortkey.Options{
		Clock: func() time.Time { return now },
		Rand:  rand.NewChaCha8([32]byte{}),
	})
	if err != nil {
		return err
	}
	defer db.Close()
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		op, body, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			return fmt.Errorf("request without a body: %q", lines.Text())
		}
		now = now.Add(time.Second)
		req := httptest.NewRequest(http.MethodPost, "http://sortkey.invalid/", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/x-amz-json-1.0")
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
		req.Header.Set("X-Amz-Date", "20260101T000000Z")
		req.Header.Set(
			"Authorization",
			"AWS4-HMAC-SHA256 Credential=replay/20260101/us-east-1/dynamodb/aws4_request, "+
				"SignedHeaders=host;x-amz-date;x-amz-target, Signature="+strings.Repeat("0", 64),
		)
		rec := httptest.NewRecorder()
		server.New(db, server.Options{}).ServeHTTP(rec, req)
		fmt.Fprintf(out, "%d %s\n", rec.Code, rec.Body)
	}

	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}
