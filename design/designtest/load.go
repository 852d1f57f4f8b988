package designtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/requestfile"
	"github.com/sortkey/sortkey/sortkeytest"
)

// Load creates the tables that a file defines in the database of a test, so that the test
// has the tables of the deployment. It can also load items. The file is one of these:
//
//   - a CloudFormation or SAM template in YAML or JSON, or the folder that cdk synth writes;
//   - a serverless.yml of the Serverless Framework, with the files that it names;
//   - a Terraform file, a folder of them with modules beside it, or the output of terraform show -json;
//   - the JSON of CreateTable requests or DescribeTable responses;
//   - a model of sortkey design, whose items Load also puts into the tables;
//   - BatchWriteItem, PutItem or TransactWriteItems requests in JSON that name their tables. Load
//     makes their writes like [sortkeytest.DB.PutFile], so load the table definitions first.
//
// Parameters such as "Stage=test" set the parameters of a template, its pseudo parameters
// ("AWS::StackName=shop"), the variables of Terraform files, or the options and parameters
// of a Serverless service ("stage=test"). For any other variable of a service, write its
// name as in the file: "env:TABLE=orders" sets ${env:TABLE}. Load does not read the
// environment of the test process.
//
// If a parameter has no value, Load makes one up, and the log of the test says how to set
// it. If a definition needs another value that only the deployment knows, the test fails.
func Load(db *sortkeytest.DB, path string, parameters ...string) {
	t := db.T()
	t.Helper()
	if err := load(t, db, path, parameters); err != nil {
		text := err.Error()
		if hint := advice.Of(err); hint != "" {
			text += "\nhint: " + hint
		}
		t.Fatalf("sortkeytest: %s", text)
	}
}

func load(t testing.TB, db *sortkeytest.DB, path string, parameters []string) error {
	t.Helper()
	with := tabledef.Parameters{"AWS::Region": db.DB.Region()}
	for _, p := range parameters {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return advice.New("write it as in Stage=test", "parameter %q has no value", p)
		}
		with[name] = value
	}

	if isRequests(path) {
		db.PutFile("", path)
		return nil
	}
	// keep observers and faults out of these requests, because Load makes them, not the code under test
	ctx := event.Quiet(context.Background())
	list, notes, err := tabledef.Read(path, with)
	if errors.Is(err, tabledef.ErrOther) {
		var m *model.Model
		if m, err = modelfile.Load(path); err == nil {
			_, err = dataset.Build(ctx, m, dataset.Options{DB: db.DB})
		}
		return err
	}
	if err != nil {
		return err
	}
	for _, note := range notes {
		t.Logf("sortkeytest: %s: %s", path, note)
	}

	for _, s := range list {
		if _, err := db.Client.CreateTable(ctx, s.CreateTable(s.TableName)); err != nil {
			return advice.New(loadAdvice(s, err), "%s: table %s: %s", s.Place, s.TableName, reasonOf(err))
		}
		ttl := s.TimeToLiveSpecification
		if ttl == nil {
			continue
		}
		if _, err := db.Client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: &s.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: &ttl.AttributeName,
				Enabled:       aws.Bool(true),
			},
		}); err != nil {
			return fmt.Errorf("%s: table %s: %s", s.Place, s.TableName, reasonOf(err))
		}
	}
	return nil
}

// reasonOf returns the operation, the code and the message of a service error, without the text that the SDK adds.
func reasonOf(err error) string {
	type call interface {
		error
		Operation() string
	}
	type answer interface {
		error
		ErrorCode() string
		ErrorMessage() string
	}
	if e, ok := errors.AsType[answer](err); ok {
		text := e.ErrorCode() + ": " + e.ErrorMessage()
		if c, ok := errors.AsType[call](err); ok {
			text = c.Operation() + ": " + text
		}
		return text
	}
	return err.Error()
}

// isRequests reports whether a file contains write requests, such as PutItem, instead of table definitions.
func isRequests(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe is read once
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, requestfile.Head))
	return err == nil && requestfile.Is(begin)
}

// loadAdvice returns a hint for a table that cannot be created.
func loadAdvice(s *tabledef.Schema, err error) string {
	if strings.Contains(s.TableName, "${") {
		return "the file is part of a service: load its serverless.yml"
	}
	if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
		return "two tables have this name: rename one of them with a parameter"
	}
	return ""
}
