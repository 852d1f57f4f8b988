package fuzz_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	//lint:ignore SA1019 Programs use it, and nothing has replaced it.
	"go.opentelemetry.io/contrib/instrumentation/github.com/aws/aws-sdk-go-v2/otelaws"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestOpenTelemetry tests that OpenTelemetry's instrumentation of a client makes the same spans as with DynamoDB,
// including attributes that only an HTTP response has: no call may take the short way.
func TestOpenTelemetry(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Rows", "pk")
	spans := tracetest.NewSpanRecorder()
	instrument := func(o *dynamodb.Options) {
		otelaws.AppendMiddlewares(&o.APIOptions, otelaws.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))))
	}
	scan := &dynamodb.ScanInput{TableName: aws.String("Rows")}
	_, err := sdk.Client(db.DB, instrument).Scan(t.Context(), scan)
	require.NoError(t, err)
	_, err = db.Client.Scan(t.Context(), scan, instrument)
	require.NoError(t, err)
	require.Len(t, spans.Ended(), 2)
	for _, span := range spans.Ended() {
		require.Equal(t, "DynamoDB.Scan", span.Name())
		seen := map[string]string{}
		for _, a := range span.Attributes() {
			seen[string(a.Key)] = a.Value.String()
		}
		require.Equal(t, "200", seen["http.response.status_code"], "%v", seen)
		require.NotEmpty(t, seen["aws.request_id"], "%v", seen)
	}
}
