package sdk

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/inside"
)

// endpoint is an address to which nothing is sent.
const endpoint = "http://sortkey.invalid"

// Client returns a DynamoDB client whose requests are answered by db in this
// process. They are signed, serialised and parsed as for the service, so a
// test that uses it covers the whole path of a request except the socket. The
// options are applied after those that lead to db. There is one attempt unless
// they set a Retryer or RetryMaxAttempts.
func Client(db *sortkey.DB, optFns ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(options(db), optFns...)
}

// Streams returns a client of the database's streams, as [Client] does for its
// tables.
func Streams(db *sortkey.DB, optFns ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	o := options(db)
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region: o.Region, BaseEndpoint: o.BaseEndpoint, Credentials: o.Credentials, HTTPClient: o.HTTPClient, Retryer: o.Retryer,
	}, optFns...)
}

func options(db *sortkey.DB) dynamodb.Options {
	return dynamodb.Options{
		Region:       db.Region(),
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials(db),
		HTTPClient:   roundTripper{db.HTTPClient().Transport},
		// Not RetryMaxAttempts, which would also limit a Retryer of the caller.
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 1 }),
	}
}

// credentials returns a provider of credentials that the database accepts.
func credentials(db *sortkey.DB) aws.CredentialsProviderFunc {
	return func(context.Context) (aws.Credentials, error) {
		key, secret := inside.Credentials(db)
		return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret, Source: "sortkey"}, nil
	}
}

// A roundTripper is an HTTP client for the SDK without what [http.Client] adds:
// there are no redirects, cookies or time-outs.
type roundTripper struct{ http.RoundTripper }

// Do implements [dynamodb.HTTPClient].
func (t roundTripper) Do(req *http.Request) (*http.Response, error) { return t.RoundTrip(req) }
