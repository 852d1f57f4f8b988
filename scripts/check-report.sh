#!/usr/bin/env bash
# Opens the design reports of examples, and a page of sortkey design open, in
# a headless browser, and holds them to what they promise: no request elsewhere, no error, every slice to be
# seen, nothing that sticks out of a window of 420 or 1400 pixels, nothing for
# axe-core to report, in the light and in the dark; foreign hosts, origins and
# inline scripts refused.
#
#   scripts/check-report.sh [FOLDER]
#
# FOLDER is where to keep pictures of the pages; without it none are made.
# BROWSER names the browser (default: the first Chromium or Chrome there is). AXE
# names the script of axe-core (default: it is installed with npm into the cache of
# the user; without npm that part is skipped).
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

if [ -z "${AXE:-}" ]; then
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/sortkey/axe
  if mkdir -p "$cache" && npm install --silent --no-audit --no-fund --prefix "$cache" axe-core@4.14.1; then
    AXE=$cache/node_modules/axe-core/axe.min.js
  else
    echo "check-report: SKIPPED: accessibility, because axe-core could not be installed with npm" >&2
  fi
fi
export AXE
PICTURES=$folder go test -count=1 -v ./cmd/sortkey -run '^Test(Browser|Console|ConsoleHostile|ConsoleLarge|Live|Foreign)$'
if [ -n "$folder" ]; then
  ls "$folder"
fi
