#!/usr/bin/env bash
# Checks the types of every script that a page of this project has: those of the console, and the one that design
# reports and sortkey design open share. They are plain JavaScript with types in comments, which tsc --strict reads.
# It ends with 0 if nothing was wrong; without npm it says that it is SKIPPED.
#
#   scripts/check-scripts.sh
#
# TSC names the compiler (default: it is installed with npm into the cache of the user).
set -euo pipefail
cd "$(dirname "$0")/.."

version=5.9.3
if [ -z "${TSC:-}" ]; then
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/sortkey/typescript-$version
  TSC=$cache/node_modules/.bin/tsc
  if [ ! -x "$TSC" ] && ! { command -v npm >/dev/null && mkdir -p "$cache" &&
    npm install --silent --no-audit --no-fund --prefix "$cache" "typescript@$version"; }; then
    echo "check-scripts: SKIPPED, because typescript could not be installed with npm" >&2
    exit 0
  fi
fi

mapfile -t scripts < <(git ls-files '*/templates/*.js')
[ ${#scripts[@]} -ge 5 ] || { echo "check-scripts: found only ${#scripts[@]} scripts" >&2; exit 1; }
for script in "${scripts[@]}"; do # each alone, as a page loads it
  "$TSC" --allowJs --checkJs --noEmit --strict --noUnusedLocals --noImplicitReturns --noFallthroughCasesInSwitch \
    --target es2022 --lib es2022,dom,dom.iterable "$script"
done
echo "check-scripts: tsc $("$TSC" --version | cut -d' ' -f2) accepts ${#scripts[@]} scripts"
