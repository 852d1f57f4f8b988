package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/server"
)

// TestSDK calls the server with the real client, which signs its requests,
// checks the checksum and, if asked, unpacks gzip.
func TestSDK(t *testing.T) {
	name := strings.Repeat("n", 6000)
	h := server.New(handlerFunc(func(_ context.Context, target string, _, dst []byte) ([]byte, int) {
		if target != listTables {
			return append(dst,
				`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no"}`...), 400
		}
		return append(append(append(dst, `{"TableNames":["`...), name...), `"]}`...), 200
	}), server.Options{Credentials: signing.Credentials, Clock: time.Now})

	for _, gzip := range []bool{false, true} {
		for _, secret := range []string{"SECRET", "wrong"} {
			c := dynamodb.New(dynamodb.Options{
				Region:       "us-east-1",
				BaseEndpoint: aws.String("http://db.local"),
				HTTPClient:   &http.Client{Transport: server.Transport{Handler: h}},
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "KEY", SecretAccessKey: secret}, nil
				}),
				EnableAcceptEncodingGzip: gzip,
			})
			out, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
			if secret != "SECRET" {
				require.ErrorContains(t, err, "InvalidSignatureException")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, []string{name}, out.TableNames)
			_, err = c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("ttt")})
			var missing *types.ResourceNotFoundException
			require.ErrorAs(t, err, &missing)
			require.Equal(t, "no", missing.ErrorMessage())
		}
	}
}
