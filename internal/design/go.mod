module github.com/sortkey/sortkey/internal/design

go 1.26.0

require (
	github.com/aws/aws-sdk-go-v2 v1.36.1
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.40.1
	github.com/cockroachdb/datadriven v1.0.3
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/mattn/go-runewidth v0.0.16
	github.com/sortkey/sortkey v0.1.0
	github.com/sortkey/sortkey/design v0.1.0
	github.com/stretchr/testify v1.8.4
	go.yaml.in/yaml/v4 v4.0.0
	golang.org/x/text v0.31.0
)

require (
	github.com/agext/levenshtein v1.2.1 // indirect
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	github.com/apparentlymart/go-textseg/v17 v17.0.1 // indirect
	github.com/google/go-cmp v0.6.0 // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	golang.org/x/mod v0.29.0 // indirect
	golang.org/x/sync v0.18.0 // indirect
	golang.org/x/tools v0.38.0 // indirect
)

require (
	github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue v1.18.4 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.3.32 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.6.32 // indirect
	github.com/aws/aws-sdk-go-v2/service/dynamodbstreams v1.24.20 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.12.2 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.10.13 // indirect
	github.com/aws/smithy-go v1.22.2 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/google/btree v1.1.3 // indirect
	github.com/hashicorp/hcl/v2 v2.25.0
	github.com/leanovate/gopter v0.2.9 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/zclconf/go-cty v1.20.0
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
