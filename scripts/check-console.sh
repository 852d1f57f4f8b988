#!/usr/bin/env bash
# Uses the console in a headless browser with the keyboard alone, on a table of a million items: finds an item by
# typing its key, opens and edits it, deletes three at once and takes that back, follows a query to the row before its
# slice, and opens the slowest shape of live requests. It prints how large the pages are and when they are painted.
#
#   scripts/check-console.sh [FOLDER]
#
# FOLDER is where to keep pictures of the pages; without it none are made. ITEMS is the number of items (default
# 1000000), BROWSER names the browser (default: the first Chromium or Chrome there is). Without a browser the script
# says that it is SKIPPED.
set -euo pipefail
folder=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/.."

if [ -z "${BROWSER:-}" ]; then
  for name in chromium chromium-browser google-chrome google-chrome-stable headless-shell; do
    if BROWSER=$(command -v "$name"); then
      break
    fi
  done
fi
if [ -z "${BROWSER:-}" ]; then
  echo "check-console: SKIPPED, because there is no browser: apt-get install chromium, or say BROWSER=/path/to/chrome" >&2
  exit 0
fi
export BROWSER ITEMS=${ITEMS:-1000000}
PICTURES=$folder go test -count=1 -v ./cmd/sortkey -run '^TestConsoleByKeyboard$'
