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

// endpoint is an address to which nothing is sent.
const endpoint = "http://sortkey.invalid"

// Client returns a DynamoDB client whose requests are answered by db in this process: the client for code under test,
// and for programs that embed the database. The options are applied after those that lead to db. There is one attempt
// unless they set a Retryer or RetryMaxAttempts.
//
// An operation on items, unless it is a transaction, takes the short way of [Direct] if neither the client nor the call
// has options, and the database has no Observer. Otherwise the call goes over the wire: it is signed, serialised and
// parsed as for the service. To send every call over the wire, set the HTTPClient:
//
//	over := server.New(db, server.Options{}).Client()
//	c := sdk.Client(db, func(o *dynamodb.Options) { o.HTTPClient = over })
func Client(db *sortkey.DB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	if len(optFns) > 0 || engine.Of(db).Observer != nil {
		return dynamodb.New(options(db), optFns...)
	}
	return shorten(db, options(db))
}

// Config returns an AWS configuration whose clients db answers, for programs that make
// their own clients with NewFromConfig. It is the whole configuration: no variable or file
// of the environment, such as AWS_CA_BUNDLE or a proxy, has an effect on it. Such a client
// makes one attempt unless its options have a Retryer or RetryMaxAttempts.
func Config(db *sortkey.DB) aws.Config {
	o := options(db)
	return aws.Config{
		Region: o.Region, BaseEndpoint: o.BaseEndpoint, Credentials: o.Credentials, HTTPClient: o.HTTPClient,
		Retryer: func() aws.Retryer { return o.Retryer },
	}
}

// Streams returns a client of the database's streams, for code that reads shards, as [Client] does for its tables.
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
		// Not RetryMaxAttempts, which would also limit a Retryer of the caller.
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 1 }),
	}
}

// credentials are an access key and a secret, which the database does not check.
type credentials struct{}

// Retrieve implements [aws.CredentialsProvider].
func (credentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "sortkey", SecretAccessKey: "sortkey", Source: "sortkey"}, nil
}

// A roundTripper is an HTTP client for the SDK, without the redirects, cookies and
// time-outs of [http.Client].
type roundTripper struct{ http.RoundTripper }

// Do implements [dynamodb.HTTPClient].
func (t roundTripper) Do(req *http.Request) (*http.Response, error) {
	response, err := t.RoundTrip(req)
	if err != nil {
		return nil, sendError(req.URL.String(), err)
	}
	return response, nil
}

// sendError returns the error that [http.Client] would return without a response.
func sendError(address string, err error) error {
	return &url.Error{Op: "Post", URL: address, Err: err}
}
