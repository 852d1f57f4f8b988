#!/usr/bin/env bash
# Makes a site of the documents, the API and the lints: static files, which work from a file and below any path. It
# fails if a link leads nowhere.
#
#   scripts/build-site.sh FOLDER [--playground] [--ref v0.1.0]
#
# --playground compiles the playground into it, which takes minutes at first; pages then have models to edit. A browser
# runs it from a server only, not from a file. --ref is the branch or tag that links to source files name (default:
# main). FOLDER must be new or empty.
set -euo pipefail
usage="usage: scripts/build-site.sh FOLDER [--playground] [--ref REF]"
folder=$(realpath -m "${1:?$usage}")
shift
cd "$(dirname "$0")/.."

playground=
ref=main
while [ $# -gt 0 ]; do
  case $1 in
  --playground) playground=yes ;;
  --ref)
    ref=${2:?$usage}
    shift
    ;;
  *)
    echo "$usage" >&2
    exit 2
    ;;
  esac
  shift
done
if [ -d "$folder" ] && [ -n "$(ls -A "$folder")" ]; then
  echo "build-site.sh: $folder is not empty: name a new folder" >&2
  exit 1
fi

if [ -n "$playground" ]; then
  go run ./cmd/sortkey playground -o "$folder/playground" --source .
fi
cd tools
GOWORK=off go run ./buildsite -root .. -to "$folder" -ref "$ref"
echo "wrote $folder: open $folder/index.html"
