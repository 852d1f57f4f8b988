#!/usr/bin/env bash
# Tests a running server with clients in other languages: boto3 and the AWS CLI each
# create a table, write batches, query with paging and delete, and every answer is
# compared. It also runs the Python and JavaScript code in docs/testing-languages.md.
# A client that is not installed is skipped, and the script says so. It ends with 0 if
# no answer was wrong.
#
#   scripts/check-clients.sh
#
# PYTHON names the interpreter (default python3), AWS the AWS CLI (default aws), and
# NODE_PROJECT a folder whose node_modules has @aws-sdk/client-dynamodb (default: the
# root of the repository). JUNIT names the file of junit-platform-console-standalone
# (default: Maven copies it into the cache of the user).
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
aws=${AWS:-aws}
dir=$(mktemp -d)
server=

finish() {
  code=$?
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT

go build -o "$dir/sortkey" ./cmd/sortkey
export SORTKEY_CONTROL_TOKEN=check-clients-token
"$dir/sortkey" serve --isolate --control --addr 127.0.0.1:0 >"$dir/out" &
server=$!
for _ in $(seq 100); do
  grep -q AWS_ENDPOINT_URL_DYNAMODB "$dir/out" && grep -q '^sortkey: control' "$dir/out" && break
  kill -0 "$server" 2>/dev/null || { echo "the server ended" >&2; exit 1; }
  sleep 0.1
done
endpoint=$(sed -n 's/.*AWS_ENDPOINT_URL_DYNAMODB=\([^ ]*\).*/\1/p' "$dir/out")
[ -n "$endpoint" ] || { echo "the server does not say where it is" >&2; exit 1; }
echo "server: $endpoint"
SORTKEY_CONTROL=$(sed -n 's/^sortkey: control at \([^ ]*\) .*/\1/p' "$dir/out")
export SORTKEY_CONTROL

# Nothing of the caller's own account or configuration takes part.
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL
export AWS_ENDPOINT_URL_DYNAMODB=$endpoint AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1
export AWS_ACCESS_KEY_ID=check AWS_SECRET_ACCESS_KEY=check AWS_PAGER=
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null

ran=0 skipped=0

# code LANGUAGE prints the code in that language in docs/testing-languages.md.
code() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/testing-languages.md | sed '/^```/d'; }

if "$python" -c 'import boto3' 2>/dev/null; then
  "$python" scripts/check_boto3.py
  code python | "$python" -
  ran=$((ran + 1))
else
  echo "boto3: skipped, it is not installed (pip install boto3)"
  skipped=$((skipped + 1))
fi

node_project=${NODE_PROJECT:-.}
if (cd "$node_project" && node -e 'require.resolve("@aws-sdk/client-dynamodb")') 2>/dev/null; then
  tables=$(code js | (cd "$node_project" && node --input-type=module))
  [ "$tables" = "[]" ] || { echo "JavaScript: the new database has the tables $tables, want none" >&2; exit 1; }
  echo "JavaScript: the code in docs/testing-languages.md works"
  ran=$((ran + 1))
else
  echo "JavaScript: skipped, @aws-sdk/client-dynamodb is not installed (npm install it, and set NODE_PROJECT to the folder)"
  skipped=$((skipped + 1))
fi

# same NAME WANT GOT
same() {
  if [ "$2" != "$3" ]; then
    printf 'aws: %s is wrong\n  want: %s\n  got:  %s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

# flat joins what the CLI prints as text, whatever it separates it with.
flat() { tr '\t\n' '  ' | sed 's/  */ /g; s/ $//'; }

check_aws() {
  ddb() { "$aws" dynamodb "$@"; }

  same "create-table" "CliCheck" "$(ddb create-table --table-name CliCheck --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName=PK,AttributeType=S AttributeName=SK,AttributeType=S \
    --key-schema AttributeName=PK,KeyType=HASH AttributeName=SK,KeyType=RANGE \
    --query TableDescription.TableName --output text)"
  ddb wait table-exists --table-name CliCheck
  same "list-tables" "CliCheck" "$(ddb list-tables --query TableNames --output text)"

  cat >"$dir/batch.json" <<'JSON'
{"CliCheck": [
  {"PutRequest": {"Item": {"PK": {"S": "d"}, "SK": {"S": "root/photos/"}, "n": {"N": "1.50"}}}},
  {"PutRequest": {"Item": {"PK": {"S": "d"}, "SK": {"S": "root/photos/b.jpg"}}}},
  {"PutRequest": {"Item": {"PK": {"S": "d"}, "SK": {"S": "root/photos/a.jpg"}}}},
  {"PutRequest": {"Item": {"PK": {"S": "d"}, "SK": {"S": "root/photos-old/"}}}},
  {"PutRequest": {"Item": {"PK": {"S": "d"}, "SK": {"S": "root/photos2/"}}}},
  {"PutRequest": {"Item": {"PK": {"S": "e"}, "SK": {"S": "root/photos/"}}}}
]}
JSON
  same "batch-write-item" "0" "$(ddb batch-write-item --request-items "file://$dir/batch.json" \
    --query 'length(keys(UnprocessedItems))' --output text)"
  same "get-item" "1.5" "$(ddb get-item --table-name CliCheck --key '{"PK": {"S": "d"}, "SK": {"S": "root/photos/"}}' \
    --query Item.n.N --output text)"

  query() {
    ddb query --table-name CliCheck --key-condition-expression "$1" \
      --expression-attribute-values "$2" --query 'Items[].SK.S' --output text "${@:3}" | flat
  }
  subtree='PK = :d AND begins_with(SK, :p)'
  values='{":d": {"S": "d"}, ":p": {"S": "root/photos/"}}'
  same "a query" "root/photos/ root/photos/a.jpg root/photos/b.jpg" "$(query "$subtree" "$values")"
  same "a query, page by page" "root/photos/ root/photos/a.jpg root/photos/b.jpg" "$(query "$subtree" "$values" --page-size 1)"
  same "a query backwards" "root/photos/b.jpg root/photos/a.jpg root/photos/" \
    "$(query "$subtree" "$values" --no-scan-index-forward --page-size 2)"
  same "a whole partition" "root/photos-old/ root/photos/ root/photos/a.jpg root/photos/b.jpg root/photos2/" \
    "$(query 'PK = :d' '{":d": {"S": "d"}}' --page-size 2)"
  same "a count" "6" "$(ddb scan --table-name CliCheck --select COUNT --query Count --output text)"

  # The first page by hand, the second with the token of the first.
  ddb query --table-name CliCheck --key-condition-expression "$subtree" --expression-attribute-values "$values" \
    --max-items 2 --output json >"$dir/page.json"
  token=$(sed -n 's/.*"NextToken": "\([^"]*\)".*/\1/p' "$dir/page.json")
  [ -n "$token" ] || same "the token of a first page" "a token" "none"
  same "a page after a token" "root/photos/b.jpg" \
    "$(query "$subtree" "$values" --max-items 2 --starting-token "$token" | sed 's/ None$//')"

  ddb delete-item --table-name CliCheck --key '{"PK": {"S": "d"}, "SK": {"S": "root/photos/a.jpg"}}' >/dev/null
  same "a query after a delete" "root/photos/ root/photos/b.jpg" "$(query "$subtree" "$values")"
  if refusal=$(ddb query --table-name CliCheck --key-condition-expression 'begins_with(PK, :d)' \
    --expression-attribute-values '{":d": {"S": "d"}}' 2>&1); then
    same "a condition that is not a slice" "ValidationException" "$refusal"
  fi
  case $refusal in
  *ValidationException*"Query key condition not supported"*) ;;
  *) same "a condition that is not a slice" "ValidationException" "$refusal" ;;
  esac
  ddb delete-table --table-name CliCheck >/dev/null
  ddb wait table-not-exists --table-name CliCheck
  same "list-tables after a delete" "" "$(ddb list-tables --query TableNames --output text)"
}

if "$aws" --version >/dev/null 2>&1; then
  check_aws
  echo "aws: $("$aws" --version 2>&1 | cut -d' ' -f1), every answer is right"
  ran=$((ran + 1))
else
  echo "aws: skipped, it is not installed (pip install awscli)"
  skipped=$((skipped + 1))
fi

echo "clients checked: $ran, skipped: $skipped"
