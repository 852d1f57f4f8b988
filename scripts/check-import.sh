#!/usr/bin/env bash
# Makes three programs on AWS SDKs of different ages, adds a test with
# sortkeytest to each as a newcomer would, and prints what that does to their
# modules. Then it prints, for the newest SDK, what the test costs instead of one
# with a stub of the service: the size of the binary and, with --cold, the processor
# time to compile it with an empty build cache, which takes a minute. It ends with 0 if the tests pass, no version
# was raised, nothing heavy came along, go list -m all has at most 30 modules and
# the binary does not grow by more than the bounds below.
set -euo pipefail
cd "$(dirname "$0")/.."
cold_cache=
[ "${1:-}" != --cold ] || cold_cache=yes
. scripts/lib/proxy.sh

most=30
most_mb=6.9          # of a test binary, on amd64
most_stripped_mb=4.8 # of one without symbols and debug information
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
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"
)

type stub struct{}

func (stub) Do(*http.Request) (*http.Response, error) {
	body := `{"Items":[{"customer":{"S":"7"},"order":{"S":"1"}},{"customer":{"S":"7"},"order":{"S":"2"}}]}`
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestCount(t *testing.T) {
	c := dynamodb.New(dynamodb.Options{Region: "none", Credentials: aws.AnonymousCredentials{}, HTTPClient: stub{}})
	n, err := count(t.Context(), c, "Orders")
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
GO
  go mod tidy 2>/dev/null
  go list -m all | awk '{print $1, $2}' | sort >before
  cp -r . "$dir-stub"
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

# cost DIRECTORY: processor seconds to compile the test there, with an empty cache if asked
# for, and the bytes of its binary and of one without symbols.
cost() {
  cd "$1"
  local TIMEFORMAT='%U %S' cache time
  cache=$(go env GOCACHE)
  [ -z "$cold_cache" ] || { cache=$work/cold && mkdir "$cache"; }
  time=$({ time GOCACHE=$cache go test -c -o ../a.test . >/dev/null 2>&1; } 2>&1)
  GOCACHE=$cache go test -c -ldflags='-s -w' -o ../b.test .
  rm -rf "$work/cold"
  echo "$time" "$(wc -c <../a.test)" "$(wc -c <../b.test)"
  cd - >/dev/null
}

printf '\n%-28s %12s %12s %14s\n' 'the test on dynamodb v1.73.0' 'processor s' 'binary MB' 'stripped MB'
{
  cost "$work/october-2026-stub"
  cost "$work/october-2026"
} | awk -v cold=$cold_cache -v most=$most_mb -v most_stripped=$most_stripped_mb '
  function row(name, s, a, b) {
    printf "%-28s %12s %12.2f %14.2f\n", name, cold ? sprintf("%.1f", s) : "with --cold", a, b
  }
  { s[NR] = $1 + $2; a[NR] = $3 / 1e6; b[NR] = $4 / 1e6 }
  END {
    row("with a stub", s[1], a[1], b[1])
    row("with sortkeytest", s[2], a[2], b[2])
    row("difference", s[2] - s[1], a[2] - a[1], b[2] - b[1])
    exit NR != 2 || a[2] - a[1] > most || b[2] - b[1] > most_stripped
  }' || {
  echo "a test binary grows by more than $most_mb MB, or $most_stripped_mb MB stripped" >&2
  bad=1
}
exit $bad
