#!/usr/bin/env bash
# Answers one sequence of random requests with the code as it is here and as it
# was at another revision, and compares the answers byte for byte. It ends with
# 0 if they are the same, and otherwise lists each kind of difference.
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
SORTKEY_SEED=$seed go test ./fuzz -run '^TestRequests$' -count=1 -requests "$requests" -to "$dir/requests" >/dev/null

"$dir/here" <"$dir/requests" >"$dir/answers-here"
"$dir/there" <"$dir/requests" >"$dir/answers-there"

# kinds prints each kind of difference once, with how many requests have it and the number
# of the first: the operation, the answer here and the answer there, without values.
kinds() {
  paste -d $'\001' "$dir/requests" "$dir/answers-here" "$dir/answers-there" | awk -F '\001' '
    function kind(answer) {
      if (answer ~ /^200 /) return "200"
      gsub(/\{[A-Z]+:[^}]*\}/, "{…}", answer)
      gsub(/[0-9]+/, "N", answer)
      return substr(answer, 1, 220)
    }
    $2 != $3 {
      split($1, request, " ")
      what = request[1] "\\n    here:  " kind($2) "\\n    there: " kind($3)
      if (!(what in count)) first[what] = NR
      count[what]++
      all++
    }
    END {
      for (what in count) printf "%6d × from request %d on: %s\n", count[what], first[what], what | "sort -s -k1,1nr"
      close("sort -s -k1,1nr")
      exit all > 0
    }' | sed 's/\\n/\n/g'
}

if ! cmp -s "$dir/answers-here" "$dir/answers-there"; then
  kinds || true
  echo "$(paste -d $'\001' "$dir/answers-here" "$dir/answers-there" | awk -F '\001' '$1 != $2' | wc -l) of $requests requests, seed $seed: the answers differ from those of $revision"
  exit 1
fi
echo "$requests requests, seed $seed: the answers are those of $revision, byte for byte ($(wc -c <"$dir/answers-here") bytes, $(cut -d' ' -f1 "$dir/answers-here" | sort | uniq -c | awk '{printf "%s%s with %s", sep, $1, $2; sep=", "}'))"
