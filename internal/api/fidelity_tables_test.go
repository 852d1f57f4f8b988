package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFidelityOfDescriptions has the rows of the list that are about descriptions. Its sources are recordings of the
// service of 2025.
func TestFidelityOfDescriptions(t *testing.T) {
	const (
		warm  = `{"ReadUnitsPerSecond":13000,"WriteUnitsPerSecond":5000}`
		index = `"GlobalSecondaryIndexes":[{"IndexName":"byA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],` +
			`"Projection":{"ProjectionType":"ALL"}}]`
		stream = `{"TableName":"Warm","StreamArn":"arn:aws:kinesis:us-east-1:000000000000:stream/one"`
	)
	type description struct {
		WarmThroughput *struct {
			ReadUnitsPerSecond int
			Status             string
		}
		GlobalSecondaryIndexes []struct{ WarmThroughput *struct{ Status string } }
		SSEDescription         *struct{ Status, SSEType, KMSMasterKeyArn string }
	}
	var out struct{ TableDescription, Table description }
	e := newEndpoint(t)
	send := func(op, body string) description {
		t.Helper()
		out.TableDescription, out.Table = description{}, description{}
		e.call(op, body, &out)
		if op == "DescribeTable" {
			return out.Table
		}
		return out.TableDescription
	}

	// Row 9.
	d := send("CreateTable", with(strings.Replace(tableH, "HHH", "Cold", 1), index))
	require.Nil(t, d.WarmThroughput)
	require.Nil(t, d.GlobalSecondaryIndexes[0].WarmThroughput)
	d = send("DescribeTable", `{"TableName":"Cold"}`)
	require.Equal(t, 12000, d.WarmThroughput.ReadUnitsPerSecond)
	require.NotNil(t, d.GlobalSecondaryIndexes[0].WarmThroughput)
	d = send("CreateTable",
		with(strings.Replace(tableH, "HHH", "Warm", 1),
			`"WarmThroughput":`+warm+`,`+strings.Replace(index, `{`, `{"WarmThroughput":`+warm+`,`, 1)))
	require.Equal(t, "UPDATING", d.WarmThroughput.Status)
	require.Equal(t, 13000, d.WarmThroughput.ReadUnitsPerSecond)
	require.Equal(t, "UPDATING", d.GlobalSecondaryIndexes[0].WarmThroughput.Status)
	require.Equal(t, "ACTIVE", send("DescribeTable", `{"TableName":"Warm"}`).WarmThroughput.Status)

	// Row 13.
	e.answer("CreateTable", with(tableH, `"SSESpecification":{"Enabled":true}`))
	key := send("DescribeTable", `{"TableName":"HHH"}`).SSEDescription.KMSMasterKeyArn
	d = send("UpdateTable", `{"TableName":"HHH","SSESpecification":{"Enabled":false}}`)
	require.Equal(t, "UPDATING", d.SSEDescription.Status)
	require.Equal(t, "KMS", d.SSEDescription.SSEType)
	require.Equal(t, key, d.SSEDescription.KMSMasterKeyArn)
	require.Nil(t, send("DescribeTable", `{"TableName":"HHH"}`).SSEDescription)

	// Row 14.
	require.Contains(t, e.answer("EnableKinesisStreamingDestination", stream+`}`),
		`"EnableKinesisStreamingConfiguration":{}`)
	require.NotContains(t, e.answer("DisableKinesisStreamingDestination", stream+`}`), "Configuration")
}
