package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design"
)

// explain gives an error of any origin the form a person can act on.
func explain(err error) *hint.Error {
	if h, ok := errors.AsType[*hint.Error](err); ok {
		// What stands round it says where it happened.
		return &hint.Error{Msg: err.Error(), Hint: h.Hint, Usage: h.Usage, Err: err}
	}
	if list, ok := errors.AsType[design.Errors](err); ok && len(list) > 0 {
		return explain(modelErrors(list[0].Pos.File, list))
	}
	if errors.Is(err, model.ErrNotFound) {
		return hint.New("the examples are: "+strings.Join(examples.Names(), ", "), "%v", err)
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return explainAPI(err, api)
	}
	if errors.Is(err, context.Canceled) {
		return hint.New("", "interrupted")
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		at := strings.TrimSuffix(u.URL, "/")
		if errors.Is(err, syscall.ECONNREFUSED) {
			return hint.New("start a server with: sortkey serve — or name another with --endpoint, or read a model with --model", "nothing listens at %s", at)
		}
		return hint.New("check --endpoint, which by default is AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL", "cannot reach %s: %v", at, rootCause(u.Err))
	}
	if _, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return hint.New("check --endpoint: there may be another kind of server", "the answer is not one of DynamoDB: %v", rootCause(err))
	}
	advice := ""
	switch {
	case errors.Is(err, syscall.ENOSPC):
		advice = "make room there, or name a place on another disk"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		advice = "name a place that may be read and written to"
	}
	return &hint.Error{Msg: err.Error(), Hint: advice, Err: err}
}

func explainAPI(err error, api smithy.APIError) *hint.Error {
	before := ""
	if i := strings.Index(err.Error(), "operation error "); i > 0 {
		before = err.Error()[:i]
	}
	h := hint.New("", "%s%s: %s", before, api.ErrorCode(), api.ErrorMessage())
	switch api.ErrorCode() {
	case "UnrecognizedClientException", "InvalidSignatureException", "MissingAuthenticationTokenException",
		"IncompleteSignatureException", "SignatureDoesNotMatch", "AccessDeniedException":
		h.Hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to credentials that the server was given"
	case "ResourceInUseException":
		h.Hint = "a table of that name is there already"
	}
	if h.Msg == before+api.ErrorCode()+": " {
		h.Msg = strings.TrimSuffix(h.Msg, ": ")
	}
	return h
}

// rootCause returns what is at the bottom of an error: the sentences round it
// name layers of the client.
func rootCause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
