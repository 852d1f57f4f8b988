#!/usr/bin/env bash
# Makes three programs on AWS SDKs of different ages, adds a test with
# sortkeytest to each as a newcomer would, and prints what that does to their
# modules. It ends with 0 if the tests pass, no version was raised, nothing
# heavy came along and go list -m all has at most 30 modules.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/proxy.sh

most=30
heavy='cockroachdb/pebble|prometheus|spf13|protobuf|chromedp|golang.org/x/term|schollz|porcupine|rapid|pgx'
bad=0

printf '%-28s %8s %8s %7s  %s\n' 'program on' modules 'of them AWS' go.sum 'versions raised'
# program NAME REQUIREMENTS: a program that uses the service and has a test.
program() {
  local dir=$work/$1
  mkdir -p "$dir"
  cd "$dir"
  go mod init "example.com/$1" 2>/dev/null
  go mod edit -go=1.26.0
  shift
  for requirement in "$@"; do go mod edit -require="$requirement"; done
  cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func count(ctx context.Context, c *dynamodb.Client, table string) (int, error) {
	out, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		return 0, err
	}
	var items []map[string]any
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &items); err != nil {
		return 0, err
	}
	return len(items), nil
}

func main() { fmt.Println(count(context.Background(), dynamodb.New(dynamodb.Options{}), "Orders")) }
GO
  cat >main_test.go <<'GO'
package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNothing(t *testing.T) { require.True(t, true) }
GO
  go mod tidy 2>/dev/null
  go list -m all | awk '{print $1, $2}' | sort >before
  cat >main_test.go <<'GO'
package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

func TestCount(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Orders", "customer / order")
	db.Put("Orders", map[string]any{"customer": "7", "order": "1"}, map[string]any{"customer": "7", "order": "2"})
	n, err := count(t.Context(), db.Client, "Orders")
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
GO
  go get "$prefix@$version" 2>/dev/null
  go mod tidy 2>/dev/null
  if ! go test ./... >tests 2>&1; then
    cat tests
    bad=1
  fi
  go list -m all | awk '{print $1, $2}' | sort >after
  local modules aws raised
  modules=$(wc -l <after)
  aws=$(grep -c 'github.com/aws' after)
  # A module in both whose version differs.
  raised=$(join before after | awk '$2 != $3 {printf "%s%s %s → %s", sep, $1, $2, $3; sep=", "}')
  printf '%-28s %8d %8d %10d  %s\n' "dynamodb ${1##*@}" "$modules" "$aws" "$(wc -l <go.sum)" "${raised:-none}"
  if [ -n "$raised" ] || [ "$modules" -gt "$most" ]; then bad=1; fi
  if grep -E "$heavy" after; then
    echo "a test helper brings what is listed above" >&2
    bad=1
  fi
  cd - >/dev/null
}

sdk=github.com/aws/aws-sdk-go-v2
program april-2025 $sdk/service/dynamodb@v1.43.0 $sdk/feature/dynamodb/attributevalue@v1.19.0 github.com/stretchr/testify@v1.9.0
program november-2025 $sdk/service/dynamodb@v1.53.0 $sdk/feature/dynamodb/attributevalue@v1.20.21 github.com/stretchr/testify@v1.10.0
program october-2026 $sdk/service/dynamodb@v1.73.0 $sdk/feature/dynamodb/attributevalue@v1.21.18 github.com/stretchr/testify@v1.11.1
exit $bad
