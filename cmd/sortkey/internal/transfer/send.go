package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// A sender sends batches to an endpoint in less time than the SDK's client. Those that are not
// answered well are left to that client, with its retries and errors.
type sender struct {
	options dynamodb.Options
	signer  *v4.Signer
}

// newSender returns a sender to the endpoint of a client, or nil if the client would have to
// look for its endpoint.
func newSender(client *dynamodb.Client) *sender {
	o := client.Options()
	if o.BaseEndpoint == nil || o.Credentials == nil || o.HTTPClient == nil {
		return nil
	}
	return &sender{o, v4.NewSigner()}
}

// send sends the body of a BatchWriteItem, and reports whether all of it was written. If not, some of it may have
// been, and the body may be sent again.
func (s *sender) send(ctx context.Context, body []byte) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, *s.options.BaseEndpoint, bytes.NewReader(body))
	if err != nil {
		return false
	}
	if request.URL.Path == "" {
		request.URL.Path = "/"
	}

	request.Header = http.Header{
		"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"DynamoDB_20120810.BatchWriteItem"},
		"User-Agent": {"sortkey"}, "Accept-Encoding": {"identity"},
	}
	if !s.sign(ctx, request, body) {
		return false
	}

	response, err := s.options.HTTPClient.Do(request)
	if err != nil {
		return false
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if closed := response.Body.Close(); err != nil || closed != nil || response.StatusCode != http.StatusOK {
		return false
	}
	return string(answer) == `{"UnprocessedItems":{}}`
}

// longestAnswer is more than an answer without unprocessed items has, in bytes.
const longestAnswer = 1 << 10

func (s *sender) sign(ctx context.Context, request *http.Request, body []byte) bool {
	credentials, err := s.options.Credentials.Retrieve(ctx)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(body)
	err = s.signer.SignHTTP(
		ctx, credentials, request, hex.EncodeToString(sum[:]), "dynamodb", s.options.Region, time.Now(),
	)
	return err == nil
}
