package tabledef

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/internal/design/advice"
)

// A Schema is the definition of a table. It has those members of a CreateTable request that affect items or capacity.
// If the table has a time to live, the JSON also has TimeToLiveSpecification, as in CloudFormation.
type Schema struct {
	TableName                 string                      `json:"TableName,omitempty"`
	AttributeDefinitions      []types.AttributeDefinition `json:"AttributeDefinitions"`
	KeySchema                 []types.KeySchemaElement    `json:"KeySchema"`
	LocalSecondaryIndexes     []Index                     `json:"LocalSecondaryIndexes,omitempty"`
	GlobalSecondaryIndexes    []Index                     `json:"GlobalSecondaryIndexes,omitempty"`
	BillingMode               types.BillingMode           `json:"BillingMode,omitempty"`
	ProvisionedThroughput     *Throughput                 `json:"ProvisionedThroughput,omitempty"`
	StreamSpecification       *Stream                     `json:"StreamSpecification,omitempty"`
	DeletionProtectionEnabled bool                        `json:"DeletionProtectionEnabled,omitempty"`
	TableClass                types.TableClass            `json:"TableClass,omitempty"`
	TimeToLiveSpecification   *TimeToLive                 `json:"TimeToLiveSpecification,omitempty"`

	// Place says where [Read] found the definition: the file, and the name of the table in the file.
	Place string `json:"-"`
	// About is the description of the CloudFormation template, or "".
	About string `json:"-"`
}

// An Index is the definition of an index.
type Index struct {
	IndexName             string                   `json:"IndexName"`
	KeySchema             []types.KeySchemaElement `json:"KeySchema"`
	Projection            Projection               `json:"Projection"`
	ProvisionedThroughput *Throughput              `json:"ProvisionedThroughput,omitempty"`
}

// A Projection selects the attributes that an index has.
type Projection struct {
	ProjectionType   types.ProjectionType `json:"ProjectionType"`
	NonKeyAttributes []string             `json:"NonKeyAttributes,omitempty"`
}

// A Throughput is provisioned capacity.
type Throughput struct {
	ReadCapacityUnits  int64 `json:"ReadCapacityUnits"`
	WriteCapacityUnits int64 `json:"WriteCapacityUnits"`
}

// A Stream is the stream of a table.
type Stream struct {
	StreamEnabled  bool                 `json:"StreamEnabled"`
	StreamViewType types.StreamViewType `json:"StreamViewType,omitempty"`
}

// A TimeToLive names the attribute with the time at which an item expires.
type TimeToLive struct {
	AttributeName string `json:"AttributeName"`
	Enabled       bool   `json:"Enabled"`
}

const schemaAdvice = "give the JSON of a CreateTable request or of a DescribeTable response"

// Parse reads the JSON of a CreateTable request, of a DescribeTable response, or of the table description in a
// response.
func Parse(data []byte) (*Schema, error) {
	s, err := parse(data, true)
	return s, advice.Bound(err)
}

// parse implements Parse. If wrapped is true, it unwraps a response once. Unwrapping any number of levels would be
// slow, because the decoder reads the rest of the text again at each level.
func parse(data []byte, wrapped bool) (*Schema, error) {
	var doc struct {
		Schema
		Table            *json.RawMessage
		TableDescription *json.RawMessage
		BillingSummary   *struct{ BillingMode types.BillingMode } `json:"BillingModeSummary"`
		ClassSummary     *struct{ TableClass types.TableClass }   `json:"TableClassSummary"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, wrongJSON(err)
	}
	for _, inner := range []*json.RawMessage{doc.Table, doc.TableDescription} {
		if inner != nil && doc.KeySchema == nil && wrapped {
			return parse(*inner, false)
		}
	}
	s := &doc.Schema
	if doc.BillingSummary != nil && s.BillingMode == "" {
		s.BillingMode = doc.BillingSummary.BillingMode
	}
	if doc.ClassSummary != nil && s.TableClass == "" {
		s.TableClass = doc.ClassSummary.TableClass
	}
	return s, s.tidy()
}

// wrongJSON rewrites the decoder's error about a JSON type in words that the author of a template understands.
func wrongJSON(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return advice.New(schemaAdvice, "the schema is not valid JSON: %w", err)
	}
	words := map[string]string{
		"object": "an object", "struct": "an object", "array": "a list", "slice": "a list", "number": "a number",
		"string": "text", "bool": "true or false", "int64": "a whole number",
	}
	is, _, _ := strings.Cut(wrong.Value, " ") // such as "number 1.5"
	want := wrong.Type.Kind().String()
	path := strings.Split(strings.TrimPrefix(wrong.Field, "."), ".")
	path = slices.DeleteFunc(path, func(name string) bool { return name == "Schema" || name == "" })

	todo := "write it as in a CreateTable request"
	what := cmp.Or(strings.Join(path, "."), "the definition of a table")
	switch what[strings.LastIndexByte(what, '.')+1:] {
	case "KeySchema":
		todo = `write {"AttributeName": "id", "KeyType": "HASH"} for each attribute of the key`
	case "AttributeDefinitions":
		todo = `write {"AttributeName": "id", "AttributeType": "S"} for each attribute of a key`
	}
	if elements := strings.HasSuffix(what, "Schema") || strings.HasSuffix(what, "s"); want == "struct" && elements {
		what = "an element of " + what
	}
	return advice.New(todo, "%s is %s, not %s", what, cmp.Or(words[is], wrong.Value), cmp.Or(words[want], want))
}

// tidy checks s. It removes members that a description has but a request must not have.
func (s *Schema) tidy() error {
	switch {
	case len(s.KeySchema) == 0:
		return advice.New(schemaAdvice, "the schema has no KeySchema")
	case len(s.AttributeDefinitions) == 0:
		return advice.New(schemaAdvice, "the schema has no AttributeDefinitions")
	}

	keys := s.KeySchema
	for _, x := range slices.Concat(s.GlobalSecondaryIndexes, s.LocalSecondaryIndexes) {
		keys = slices.Concat(keys, x.KeySchema)
	}
	for _, e := range keys {
		if !slices.Contains(e.KeyType.Values(), e.KeyType) {
			return advice.New(
				"write HASH for the partition key and RANGE for the sort key", "the key attribute %s has the KeyType %q",
				aws.ToString(e.AttributeName), e.KeyType,
			)
		}
	}

	all := s.KeyTypes()
	for _, e := range s.KeySchema {
		if all[aws.ToString(e.AttributeName)] == "" {
			return advice.New(
				schemaAdvice, "the schema does not define the type of the key attribute %s",
				aws.ToString(e.AttributeName),
			)
		}
	}

	unset := func(t *Throughput) *Throughput {
		if t != nil && t.ReadCapacityUnits == 0 && t.WriteCapacityUnits == 0 ||
			s.BillingMode == types.BillingModePayPerRequest {
			return nil
		}
		return t
	}
	s.ProvisionedThroughput = unset(s.ProvisionedThroughput)
	for i := range s.GlobalSecondaryIndexes {
		s.GlobalSecondaryIndexes[i].ProvisionedThroughput = unset(s.GlobalSecondaryIndexes[i].ProvisionedThroughput)
	}

	for i := range s.LocalSecondaryIndexes {
		s.LocalSecondaryIndexes[i].ProvisionedThroughput = nil
	}
	if s.ProvisionedThroughput == nil {
		s.BillingMode = types.BillingModePayPerRequest
		for i := range s.GlobalSecondaryIndexes {
			s.GlobalSecondaryIndexes[i].ProvisionedThroughput = nil
		}
	}

	if s.StreamSpecification != nil && !s.StreamSpecification.StreamEnabled {
		s.StreamSpecification = nil
	}
	if s.TimeToLiveSpecification != nil && !s.TimeToLiveSpecification.Enabled {
		s.TimeToLiveSpecification = nil
	}
	return nil
}

// Of returns the schema of a described table. A description does not include the time to live.
func Of(d *types.TableDescription) (*Schema, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// KeyTypes returns the types of all key attributes, including those of indexes.
func (s *Schema) KeyTypes() map[string]string {
	t := map[string]string{}
	for _, a := range s.AttributeDefinitions {
		t[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	return t
}

// KeyNames returns the names of the attributes in the partition key and of those in the sort key.
func KeyNames(list []types.KeySchemaElement) (hash, sort []string) {
	for _, k := range list {
		if name := aws.ToString(k.AttributeName); k.KeyType == types.KeyTypeRange {
			sort = append(sort, name)
		} else {
			hash = append(hash, name)
		}
	}
	return hash, sort
}

// CreateTable returns the request that creates the table under the given name.
func (s *Schema) CreateTable(name string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{}
	// The members of a Schema have the names and the types of those of a request, so neither call can fail.
	data, _ := json.Marshal(s)
	_ = json.Unmarshal(data, in)
	in.TableName = &name
	return in
}
