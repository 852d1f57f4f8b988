package sdk

import (
	"context"
	"net/http"
	"net/url"

	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/sortkey/sortkey"
)

// endpoint is the address that requests have. No such host exists: the database answers the requests in this process.
const endpoint = "http://sortkey.invalid"

// Client returns a DynamoDB client for code under test, and for programs that embed the database. db answers its
// requests in this process. Client applies optFns after its own options. The client makes one attempt for each call,
// unless optFns set a Retryer or RetryMaxAttempts.
//
// A call takes the short way of [Direct] if three things are true: it is an operation on items and not a transaction,
// neither the client nor the call has options, and the database has no Observer. Every other call goes over the wire:
// it is signed, serialised and parsed as for DynamoDB. To send every call over the wire, set the HTTPClient:
//
//	over := server.New(db, server.Options{}).Client()
//	c := sdk.Client(db, func(o *dynamodb.Options) { o.HTTPClient = over })
func Client(db *sortkey.DB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	if len(optFns) > 0 || engine.Of(db).Observer != nil {
		return dynamodb.New(options(db), optFns...)
	}
	return shorten(db, options(db))
}

// Config returns an AWS configuration for programs that create their own clients with NewFromConfig. db answers these
// clients. The configuration is complete, so environment variables and files, such as AWS_CA_BUNDLE or a proxy, have
// no effect on it. A client makes one attempt for each call unless its options have a Retryer or RetryMaxAttempts.
func Config(db *sortkey.DB) aws.Config {
	o := options(db)
	return aws.Config{
		Region: o.Region, BaseEndpoint: o.BaseEndpoint, Credentials: o.Credentials, HTTPClient: o.HTTPClient,
		Retryer: func() aws.Retryer { return o.Retryer },
	}
}

// Streams returns a client for the streams of the database, for code that reads shards. It works as [Client] does for
// tables.
func Streams(db *sortkey.DB, optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	o := options(db)
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region: o.Region, BaseEndpoint: o.BaseEndpoint, Credentials: o.Credentials, HTTPClient: o.HTTPClient,
		Retryer: o.Retryer,
	}, optFns...)
}

func options(db *sortkey.DB) dynamodb.Options {
	return dynamodb.Options{
		Region:       db.Region(),
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials{},
		HTTPClient:   roundTripper{server.New(db, server.Options{}).Client().Transport},
		// Do not set RetryMaxAttempts to 1 instead, as it would also limit a Retryer that the caller sets.
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 1 }),
	}
}

// credentials provide a fixed access key and secret, as the database checks neither.
type credentials struct{}

// Retrieve implements [aws.CredentialsProvider].
func (credentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "sortkey", SecretAccessKey: "sortkey", Source: "sortkey"}, nil
}

// A roundTripper is an HTTP client for the SDK. It has none of the redirects, cookies and timeouts of [http.Client].
type roundTripper struct{ http.RoundTripper }

// Do implements [dynamodb.HTTPClient].
func (t roundTripper) Do(req *http.Request) (*http.Response, error) {
	response, err := t.RoundTrip(req)
	if err != nil {
		return nil, sendError(req.URL.String(), err)
	}
	return response, nil
}

// sendError returns the error that [http.Client] returns if it gets no response because of err.
func sendError(address string, err error) error {
	return &url.Error{Op: "Post", URL: address, Err: err}
}
