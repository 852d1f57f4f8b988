package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/internal/server"
)

// tables is a handler with one operation.
type tables struct{}

func (tables) Serve(_ context.Context, target string, _, dst []byte) ([]byte, int) {
	if target != "DynamoDB_20120810.ListTables" {
		return append(dst, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`...), 400
	}
	return append(dst, `{"TableNames":["orders"]}`...), 200
}

// A client can talk to a handler without a socket.
func ExampleTransport() {
	c := http.Client{Transport: server.Transport{Handler: server.New(tables{}, server.Options{})}}

	req, _ := http.NewRequest(http.MethodPost, "http://db.local/", strings.NewReader("{}"))
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	res, err := c.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	fmt.Println(res.Status, string(body))
	// Output: 200 OK {"TableNames":["orders"]}
}
