package cli

import (
	"errors"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// filledIn returns the service's error about a request with placeholders replaced
// by the names and values that the user typed.
func filledIn(err error, t *ask.Texts) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	h := app.ExplainAPI(err, &smithy.GenericAPIError{Code: api.ErrorCode(), Message: t.Message(api.ErrorMessage())})
	return &advice.Error{Msg: h.Msg, Advice: h.Advice, Err: err}
}
