#!/usr/bin/env bash
# Opens the design reports of examples, a page of sortkey design open and the console in a headless browser, and holds
# them to what they promise: no request elsewhere, no error, every slice to be seen, nothing that sticks out of a window
# of 420 or 1400 pixels, nothing for axe-core to report, in the light and in the dark; foreign hosts, origins and inline
# scripts refused; the console by keyboard alone. Before that, tsc --strict checks the types of every script of a page,
# which stand in comments. What is missing, npm or a browser, is said to be SKIPPED.
#
#   scripts/check-pages.sh [FOLDER]    # FOLDER is where to keep pictures of the pages; without it none are made
#
# BROWSER names the browser (default: the first Chromium or Chrome there is), AXE the script of axe-core and TSC the
# compiler (default: npm installs them into the cache of the user), ITEMS the items of the table that is used by
# keyboard (default 20000; a million takes minutes).
set -euo pipefail
folder=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sortkey/pages

# installed FILE PACKAGE prints the file of an npm package in the cache, which it installs there, or nothing.
installed() {
  if [ ! -e "$cache/node_modules/$1" ] && command -v npm >/dev/null; then
    npm install --silent --no-audit --no-fund --prefix "$cache" "$2" >&2 || true
  fi
  [ ! -e "$cache/node_modules/$1" ] || echo "$cache/node_modules/$1"
}
mkdir -p "$cache"

tsc=${TSC:-$(installed .bin/tsc typescript@5.9.3)}
if [ -n "$tsc" ]; then
  mapfile -t scripts < <(git ls-files '*/templates/*.js')
  [ ${#scripts[@]} -ge 5 ] || { echo "check-pages: found only ${#scripts[@]} scripts" >&2; exit 1; }
  for script in "${scripts[@]}"; do # each alone, as a page loads it
    "$tsc" --allowJs --checkJs --noEmit --strict --noUnusedLocals --noImplicitReturns --noFallthroughCasesInSwitch \
      --target es2022 --lib es2022,dom,dom.iterable "$script"
  done
  echo "check-pages: tsc $("$tsc" --version | cut -d' ' -f2) accepts ${#scripts[@]} scripts"
else
  echo "check-pages: SKIPPED: types of scripts, because npm cannot install typescript"
fi

if [ -z "${BROWSER:-}" ]; then
  for name in chromium chromium-browser google-chrome google-chrome-stable headless-shell; do
    if BROWSER=$(command -v "$name"); then
      break
    fi
  done
fi
if [ -z "${BROWSER:-}" ]; then
  echo "check-pages: SKIPPED: pages, because there is no browser: apt-get install chromium, or BROWSER=/path/to/chrome"
  exit 0
fi
AXE=${AXE:-$(installed axe-core/axe.min.js axe-core@4.14.1)}
[ -n "$AXE" ] || echo "check-pages: SKIPPED: accessibility, because npm cannot install axe-core"
export BROWSER AXE ITEMS=${ITEMS:-20000} PICTURES=$folder GOWORK=$PWD/all.work
echo "browser: $BROWSER"
go test -count=1 -timeout 30m ./cmd/sortkey/browser
