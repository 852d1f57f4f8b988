package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// original makes the items of TestImportInfers: %d is a hundredth of them, about.
const original = `name: original
tables:
  Shop:
    partition: PK
    sort: SK
    indexes: {GSI1: {partition: GSI1PK, sort: GSI1SK}}
fields:
  userId: {type: int(8)}
  orderId: ulid
  productId: {type: int(6)}
  warehouseId: {type: int(3)}
entities:
  User: {count: %[1]d, attributes: {PK: "USER#{userId}", SK: PROFILE, name: "{name}"}}
  Address: {of: User, per: 1..3, attributes: {PK: "USER#{userId}", SK: "ADDRESS#{addressId:int(9)}"}}
  Order:
    of: User
    per: {min: 1, p50: 6, p95: 14, max: 60}
    attributes: {PK: "USER#{userId}", SK: "ORDER#{orderId}", GSI1PK: "ORDER#{orderId}", GSI1SK: ORDER, total: {template: "{total:number}", type: N}}
  Line: {of: Order, per: 1..5, attributes: {PK: "ORDER#{orderId}", SK: "LINE#{line:int(7)}"}}
  Product: {count: %[2]d, attributes: {PK: "PRODUCT#{productId}", SK: DETAILS}}
  Review: {of: Product, per: 0..8, attributes: {PK: "PRODUCT#{productId}", SK: "REVIEW#{at:time}"}}
  Warehouse: {count: 20, attributes: {PK: "WAREHOUSE#{warehouseId}", SK: INFO}}
  Event: {count: %[3]d, attributes: {PK: "EVENT#{day:date}", SK: "{eventId:ulid}"}}
`

// TestImportInfers generates the items of a model, writes them as an export to S3, imports
// that, and compares what the import infers with the model. With SORTKEY_LONG it is a
// million items.
func TestImportInfers(t *testing.T) {
	unit := 400
	if proptest.Long() {
		unit = 33_000
	}
	made, err := modelfile.Parse("model.yaml", fmt.Appendf(nil, original, unit, unit/2, 3*unit))
	require.NoError(t, err)
	dir := t.TempDir()
	counts := writeExport(t, made, dir)

	var out, said bytes.Buffer
	env := &app.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said,
		Getenv: func(string) string { return "" }, Width: func() int { return 0 },
	}
	start := time.Now()
	require.Zero(t, cli.Main([]string{"design", "import", filepath.Join(dir, "table.yaml"), dir}, env), said.String())
	t.Logf("%d items: %v", counts[""], time.Since(start).Round(time.Millisecond))
	got, err := modelfile.Parse("got.yaml", out.Bytes())
	require.NoError(t, err)

	// The differences that remain, each with its reason.
	renamed := map[string]string{
		"line":    "lineId",     // named by its label, LINE
		"day":     "eventDate",  // its label is EVENT, and it is a date
		"at":      "reviewTime", // the same
		"eventId": "SK",         // no label is before it
	}
	name := func(s string) string {
		if other, ok := renamed[s]; ok {
			return other
		}
		return s
	}
	var want, have []string
	for _, e := range made.Entities {
		want = append(want, describe(e, name, counts[e.Name]))
	}
	total := 0
	for _, e := range got.Entities {
		have = append(have, describe(e, func(s string) string { return s }, e.Count+len(e.Samples)))
		total += e.Count + len(e.Samples)
	}
	slices.Sort(want)
	slices.Sort(have)
	require.Equal(t, strings.Join(want, "\n"), strings.Join(have, "\n"), said.String())
	require.Equal(t, counts[""], total)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "got.yaml"), out.Bytes(), 0o600))
	out.Reset()
	require.Zero(t, cli.Main([]string{"design", "check", filepath.Join(dir, "got.yaml")}, env), "%s%s", &out, &said)
}

// describe describes an entity: its keys, what it belongs to, and its count, about.
func describe(e *model.Entity, name func(string) string, count int) string {
	text := name(e.Name)
	for _, a := range e.Table.Keys() {
		src := e.Attribute(a.Name).Template.Explicit()
		for _, c := range e.Attribute(a.Name).Template.Components() {
			src = strings.ReplaceAll(src, "{"+c, "{"+name(c))
		}
		text += " " + src
	}
	for _, p := range e.Parents {
		per := fmt.Sprint(p.Per.Max)
		if p.Per.Max > 10 {
			per = "many" // the most is only known for the parents that were compared
		}
		text += fmt.Sprintf(" of %s, %d to %s,", name(p.Entity.Name), p.Per.Min, per)
	}
	return text + fmt.Sprintf(" count %d", count)
}

// writeExport writes the items of a model as an export to S3, with the template of the table
// beside it, and returns their number by entity, and "" for all.
func writeExport(t *testing.T, m *model.Model, dir string) map[string]int {
	w, err := world.Build(t.Context(), m, world.Options{MaxItems: 2_000_000, MaxBytes: 4 << 30})
	require.NoError(t, err)
	defer w.Close()
	counts := map[string]int{}
	const parts = 4
	require.NoError(t, os.Mkdir(filepath.Join(dir, s3files.DataFolder), 0o700))
	var files []byte
	for part := range parts {
		key := fmt.Sprintf("AWSDynamoDB/01/data/part%d.json.gz", part)
		file, err := os.Create(filepath.Join(dir, s3files.DataFolder, filepath.Base(key)))
		require.NoError(t, err)
		data := s3files.NewWriter(file, true)
		for i := part * len(w.Items) / parts; i < (part+1)*len(w.Items)/parts; i++ {
			require.NoError(t, data.WriteItem(w.Items[i].Attributes))
			counts[w.Items[i].Entity.Name]++
			counts[""]++
		}
		require.NoError(t, data.Close())
		require.NoError(t, file.Close())
		line, err := data.DataFile(key).Encode(s3files.Sorted)
		require.NoError(t, err)
		files = append(files, line...)
	}
	summary, err := (&s3files.Summary{
		Version: s3files.Version, TableArn: "arn:aws:dynamodb:us-east-1:000000000000:table/Shop",
		OutputFormat: s3files.FormatDynamoDB, ItemCount: int64(counts[""]),
	}).Encode(s3files.Sorted)
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		s3files.SummaryFile: summary, s3files.FilesFile: files, "table.yaml": []byte(`Resources:
  Shop:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: Shop
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - {AttributeName: GSI1PK, AttributeType: S}
        - {AttributeName: GSI1SK, AttributeType: S}
      KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: SK, KeyType: RANGE}]
      GlobalSecondaryIndexes:
        - IndexName: GSI1
          KeySchema: [{AttributeName: GSI1PK, KeyType: HASH}, {AttributeName: GSI1SK, KeyType: RANGE}]
          Projection: {ProjectionType: ALL}
`)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return counts
}
