#!/usr/bin/env bash
# Opens the design reports of examples in a headless browser and holds them to
# what they promise: no request, no error, every slice to be seen, nothing that
# sticks out of a window of 400 or 1400 pixels, in the light and in the dark.
#
#   scripts/check-report.sh [FOLDER]
#
# FOLDER is where to keep pictures of the pages; without it none are made.
# BROWSER names the browser (default: the first Chromium or Chrome there is).
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
  echo "check-report: there is no browser: apt-get install chromium, or say BROWSER=/path/to/chrome" >&2
  exit 1
fi
echo "browser: $BROWSER"
export BROWSER
SORTKEY_LONG=1 PICTURES=$folder go test -count=1 -v ./cmd/sortkey/browsertest
if [ -n "$folder" ]; then
  ls "$folder"
fi
