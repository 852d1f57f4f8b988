#!/usr/bin/env bash
# Checks the Kubernetes and Compose files in deploy/ strictly against the schemas of
# their formats, and the arguments of each container against this version of the
# command. Nothing is deployed.
#
#   scripts/check-deploy.sh
#
# It needs Python with venv. With pip it installs two validators, which include the
# schemas, in a temporary folder; without them it says so and ends with 0.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! "$python" -m venv "$dir/venv" 2>/dev/null ||
  ! "$dir/venv/bin/pip" -q --disable-pip-version-check install kubernetes-validate==1.37.0 check-jsonschema==0.39.0 2>"$dir/pip"; then
  echo "deploy: skipped, the validators cannot be installed (Python with venv and pip, and a package index)"
  exit 0
fi

"$dir/venv/bin/kubernetes-validate" --strict deploy/kubernetes.yaml
"$dir/venv/bin/check-jsonschema" --builtin-schema vendor.compose-spec deploy/compose.yaml

# With --help the command checks its flags and does nothing else.
go build -o "$dir/sortkey" ./cmd/sortkey
"$dir/venv/bin/python" - >"$dir/lines" <<'PY'
from ruamel.yaml import YAML

yaml = YAML(typ="safe")
lines = []
for doc in yaml.load_all(open("deploy/kubernetes.yaml")):
    pod = doc.get("spec", {}).get("template", {}).get("spec", {})
    lines += [c["args"] for c in pod.get("initContainers", []) + pod.get("containers", [])]
for service in yaml.load(open("deploy/compose.yaml"))["services"].values():
    if service["image"] == "sortkey":
        lines.append(service["command"])
assert len(lines) == 5, lines
for args in lines:
    assert not any("\n" in a or "\t" in a for a in args)
    print("\t".join(args))
PY
while IFS=$'\t' read -r -a args; do
  "$dir/sortkey" "${args[@]}" --help >"$dir/help" || { echo "sortkey ${args[*]}: refused" >&2; exit 1; }
done <"$dir/lines"
echo "deploy: the files match their schemas; sortkey accepts $(wc -l <"$dir/lines") command lines"
