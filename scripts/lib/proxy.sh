# Sourced by scripts that use the modules of this checkout as if they were
# published: a module proxy in a folder, before the one of the environment. It
# sets work (a temporary folder), prefix and version, and cleans up at the end.
prefix=github.com/sortkey/sortkey
version=${version:-$(sed -n 's#^replace .*#&#; s#.*github.com/sortkey/sortkey \(v[0-9][^ ]*\) => .*#\1#p' go.work | head -1)}
work=$(mktemp -d)
proxy=$work/proxy

finish_proxy() {
  code=$?
  chmod -R u+w "$work" 2>/dev/null || true
  rm -rf "$work"
  exit "$code"
}
trap finish_proxy EXIT
trap 'exit 130' INT TERM

(cd tools && GOWORK=off go run ./modproxy -root .. -version "$version" -to "$proxy")
# The go command keeps what it downloads: our modules go to a module cache of
# their own, all others come from the usual one where they are there.
GOPROXY="file://$proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)"
GOMODCACHE=$work/modules
export GOPROXY GOMODCACHE GOWORK=off GOFLAGS="$(go env GOFLAGS) -mod=mod -modcacherw" GONOSUMDB="$prefix,$prefix/*" GONOSUMCHECK=1
