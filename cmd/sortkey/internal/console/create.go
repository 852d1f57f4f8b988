package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
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
	if err := sdktarget.Send(r.Context(), s.opts.Client, in, new(wire.CreateTableOutput)); err != nil {
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
		ix, err := ask.Index(line, false)
		if err != nil {
			return nil, &badRequest{err}
		}
		all = append(all, ix)
	}
	return all, nil
}
