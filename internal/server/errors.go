package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sortkey/sortkey/internal/event"
)

// A failure is an error response that the server sends without calling the
// handler.
type failure struct {
	status int
	typ    string // in namespace com.amazon.coral.service unless it contains a '#'
	msg    string // omitted when empty
}

func (f *failure) Error() string { return fmt.Sprintf("server: %d %s: %s", f.status, f.typ, f.msg) }

func badRequest(typ, msg string) *failure { return &failure{http.StatusBadRequest, typ, msg} }

var (
	errUnknownOperation = badRequest("UnknownOperationException", "")
	errSerialization    = badRequest("SerializationException", "")
	errHeaders          = badRequest("RequestHeaderSectionTooLarge", "Your request header section exceeds the maximum allowed size.")
	errBusy             = &failure{http.StatusServiceUnavailable, "ServiceUnavailableException", "The server is busy."}

	// The service's message: DG/Programming.Errors.html.
	errInternal = &failure{
		http.StatusInternalServerError, "com.amazonaws.dynamodb.v20120810#InternalServerError",
		"The server encountered an internal error trying to fulfill the request.",
	}
)

func errTooLarge(limit int) *failure {
	return &failure{http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", fmt.Sprintf("HTTP content length exceeded %d bytes.", limit)}
}

// note records the failure in the event of a request.
func (f *failure) note(r *http.Request) {
	if e := event.Of(r.Context()); e != nil {
		e.Error, e.Message = f.typ[strings.IndexByte(f.typ, '#')+1:], f.msg
	}
}

func (f *failure) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"__type":"`...)
	for i := range len(f.typ) + 1 {
		if i == len(f.typ) {
			dst = append(dst, "com.amazon.coral.service#"...)
		} else if f.typ[i] == '#' {
			break
		}
	}
	dst = append(dst, f.typ...)
	dst = append(dst, '"')
	if f.msg != "" {
		dst = append(dst, `,"message":`...)
		dst, _ = jsontext.AppendQuote(dst, f.msg) // the only error is for bad UTF-8, which it has replaced
	}
	return append(dst, '}')
}
