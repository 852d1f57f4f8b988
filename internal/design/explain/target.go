package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/inside"
)

// targetPrefix is the API version before the name of an operation.
const targetPrefix = "DynamoDB_20120810."

// A Target executes requests.
type Target interface {
	// Do runs an operation, such as Query, with a JSON request. It returns
	// traces of what it read, if the target reports them. If the service
	// refuses the request, it returns a [*ServiceError].
	Do(ctx context.Context, op string, request []byte) (response []byte, traces []sortkey.Trace, err error)
}

// A ServiceError is an error that the service returned.
type ServiceError struct {
	Code, Message string
	Status        int
}

func (e *ServiceError) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// InProcess returns a target for a database in this process.
func InProcess(db *sortkey.DB) Target { return inProcess{db} }

type inProcess struct{ db *sortkey.DB }

func (t inProcess) Do(ctx context.Context, op string, request []byte) ([]byte, []sortkey.Trace, error) {
	var mu sync.Mutex
	var traces []sortkey.Trace
	ctx = sortkey.WithTrace(ctx, func(tr sortkey.Trace) {
		mu.Lock()
		traces = append(traces, tr)
		mu.Unlock()
	})
	body, status := inside.Service(t.db).Serve(ctx, targetPrefix+op, request, nil)
	if status != http.StatusOK {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		return nil, nil, serviceError(status, body)
	}
	return body, traces, nil
}

// maxResponse limits the bytes of a response. Items have at most 400 KB and
// pages 1 MB; base64 and JSON syntax add to that.
const maxResponse = 64 << 20

// HTTP returns a target for an endpoint. Client must sign requests if the
// endpoint checks signatures; nil means [http.DefaultClient]. Header is added
// to every request. A sortkey server reports traces, other endpoints do not.
func HTTP(endpoint string, client *http.Client, header http.Header) Target {
	if client == nil {
		client = http.DefaultClient
	}
	return &httpTarget{endpoint, client, header}
}

type httpTarget struct {
	endpoint string
	client   *http.Client
	header   http.Header
}

func (t *httpTarget) Do(ctx context.Context, op string, request []byte) ([]byte, []sortkey.Trace, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(request))
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(req.Header, t.header)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", targetPrefix+op)
	req.Header.Set(sortkey.TraceHeader, "1")
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the response of %s: %w", t.endpoint, err)
	}
	if len(body) > maxResponse {
		return nil, nil, fmt.Errorf("the response of %s is longer than %d bytes", t.endpoint, maxResponse)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, serviceError(resp.StatusCode, body)
	}
	if tr, ok := sortkey.ReadTrace(resp.Header); ok {
		return body, []sortkey.Trace{tr}, nil
	}
	return body, nil, nil
}

// serviceError decodes the body of a failure. If that is not an error of the
// service, it reports the status.
func serviceError(status int, body []byte) error {
	var e struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &e) != nil || e.Type == "" {
		return fmt.Errorf("the endpoint returned status %d without a DynamoDB error", status)
	}
	code := e.Type[strings.LastIndexByte(e.Type, '#')+1:]
	return &ServiceError{Code: code, Message: e.Message, Status: status}
}
