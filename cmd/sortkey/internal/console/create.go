package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// createTable makes a table with the name, the key and the indexes in the fields of the page, and
// returns the address of its page once the table can be used.
func (s *Server) createTable(r *http.Request) (next string, err error) {
	name := strings.TrimSpace(r.FormValue("name"))
	indexes, err := indexSpecs(r.FormValue("indexes"))
	if err != nil {
		return "", err
	}
	in := &wire.CreateTableInput{TableName: &name, BillingMode: new("PAY_PER_REQUEST")}
	if err := keyschema.Define(in, r.FormValue("key"), indexes); err != nil {
		return "", &badRequest{err}
	}
	data, err := json.Marshal(in) // tabledef has the shapes of the SDK
	if err != nil {
		return "", err
	}
	schema, err := tabledef.Parse(data)
	if err != nil {
		return "", &badRequest{err}
	}
	if _, err := s.opts.Client.CreateTable(r.Context(), schema.CreateTable(name)); err != nil {
		return "", &badRequest{err}
	}
	active := dynamodb.NewTableExistsWaiter(s.opts.Client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 200*time.Millisecond, time.Second
	})
	if err := active.Wait(r.Context(), &dynamodb.DescribeTableInput{TableName: &name}, pageTime); err != nil {
		return "", err
	}
	return "table?" + query("name", name), nil
}

// indexSpecs reads global indexes, one per line: "ByDay: day / SK".
func indexSpecs(lines string) (all []keyschema.IndexSpec, err error) {
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, key, ok := strings.Cut(line, ":")
		if !ok {
			return nil, bad("the index %q has no name: write it as in ByDay: day / SK", line)
		}
		all = append(all, keyschema.IndexSpec{Name: strings.TrimSpace(name), Key: strings.TrimSpace(key)})
	}
	return all, nil
}
