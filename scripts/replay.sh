#!/usr/bin/env bash
# Answers one sequence of random requests with the code as it is here and as it
# was at another revision, and compares the answers byte for byte. It ends with
# 0 if they are the same.
#
#   scripts/replay.sh REVISION [REQUESTS] [SEED]     # 20000 requests, seed 1
set -euo pipefail
cd "$(dirname "$0")/.."

revision=${1:?usage: scripts/replay.sh REVISION [REQUESTS] [SEED]}
requests=${2:-20000}
seed=${3:-1}
dir=$(mktemp -d)
trap 'git worktree remove --force "$dir/tree" 2>/dev/null || true; rm -rf "$dir"' EXIT

git worktree add --quiet --detach "$dir/tree" "$revision"
mkdir -p "$dir/tree/fuzz/replay"
cp fuzz/replay/main.go "$dir/tree/fuzz/replay/main.go"
go build -o "$dir/here" ./fuzz/replay
(cd "$dir/tree" && go build -o "$dir/there" ./fuzz/replay)
go run ./fuzz/diff --list --requests "$requests" --seed "$seed" >"$dir/requests"

"$dir/here" <"$dir/requests" >"$dir/answers-here"
"$dir/there" <"$dir/requests" >"$dir/answers-there"
if ! cmp "$dir/answers-here" "$dir/answers-there"; then
  line=$(cmp "$dir/answers-here" "$dir/answers-there" | sed 's/.*line //')
  printf 'request %s: %s\nhere:  %s\nthere: %s\n' "$line" "$(sed -n "${line}p" "$dir/requests" | cut -c1-2000)" \
    "$(sed -n "${line}p" "$dir/answers-here" | cut -c1-2000)" "$(sed -n "${line}p" "$dir/answers-there" | cut -c1-2000)"
  exit 1
fi
echo "$requests requests, seed $seed: the answers are those of $revision, byte for byte ($(wc -c <"$dir/answers-here") bytes, $(cut -d' ' -f1 "$dir/answers-here" | sort | uniq -c | awk '{printf "%s%s with %s", sep, $1, $2; sep=", "}'))"
