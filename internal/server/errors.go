package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/item/token"
)

// A failure is an error response that the server sends without calling the
// handler.
type failure struct {
	status int
	typ    string // in namespace com.amazon.coral.service unless it has a '#'
	msg    string // left out of the answer if empty
	closes bool   // close the connection, because the server has not read the body
}

func (f *failure) Error() string { return fmt.Sprintf("server: %d %s: %s", f.status, f.typ, f.msg) }

func badRequest(typ, msg string) *failure {
	return &failure{status: http.StatusBadRequest, typ: typ, msg: msg}
}

// accessDenied is the answer to a request from where requests are not allowed.
func accessDenied(format, from string) *failure {
	return &failure{
		status: http.StatusForbidden, typ: "AccessDeniedException", closes: true, msg: fmt.Sprintf(format, from),
	}
}

// closing returns a copy of the failure that also closes the connection.
func (f *failure) closing() *failure {
	c := *f
	c.closes = true
	return &c
}

var (
	errUnknownOperation = badRequest("UnknownOperationException", "")
	errSerialization    = badRequest("SerializationException", "")
	errHeaders          = badRequest(
		"RequestHeaderSectionTooLarge", "Your request header section exceeds the maximum allowed size.",
	)
	errBusy = &failure{
		status: http.StatusServiceUnavailable, typ: "ServiceUnavailableException", msg: "The server is busy.",
		closes: true,
	}
	errNotFound = &failure{status: http.StatusNotFound}

	// DynamoDB's message; source: DG/Programming.Errors.html.
	errInternal = &failure{
		status: http.StatusInternalServerError, typ: "com.amazonaws.dynamodb.v20120810#InternalServerError",
		msg: "The server encountered an internal error trying to fulfill the request.",
	}
)

func errTooLarge(limit int) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, typ: "RequestEntityTooLarge",
		msg: fmt.Sprintf("HTTP content length exceeded %d bytes.", limit), closes: true,
	}
}

// note records the failure in the event of a request.
func (f *failure) note(r *http.Request) {
	if e := event.Of(r.Context()); e != nil {
		e.Error, e.Message = f.typ[strings.IndexByte(f.typ, '#')+1:], f.msg
	}
}

func (f *failure) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"__type":"`...)
	if !strings.Contains(f.typ, "#") {
		dst = append(dst, "com.amazon.coral.service#"...)
	}
	dst = append(dst, f.typ...)
	dst = append(dst, '"')
	if f.msg != "" {
		dst = append(dst, `,"message":`...)
		dst = token.AppendQuote(dst, []byte(f.msg))
	}
	return append(dst, '}')
}
