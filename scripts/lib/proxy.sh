# Sourced by scripts that use the modules of this checkout as if they were
# published: a module proxy in a folder, before the one of the environment. It
# sets work (a temporary folder), prefix and version, and cleans up at the end.
prefix=github.com/sortkey/sortkey
version=${version:-$(sed -n 's#^replace .*#&#; s#.*github.com/sortkey/sortkey \(v[0-9][^ ]*\) => .*#\1#p' go.work | head -1)}
work=$(mktemp -d)
proxy=$work/proxy

forget() {
  # What the go command keeps of our modules is of this checkout.
  local cache
  cache=$(go env GOMODCACHE)
  chmod -R u+w "$cache/github.com/sortkey" 2>/dev/null || true
  rm -rf "$cache/github.com/sortkey" "$cache/cache/download/github.com/sortkey"
}
finish_proxy() {
  code=$?
  forget
  chmod -R u+w "$work" 2>/dev/null || true
  rm -rf "$work"
  exit "$code"
}
trap finish_proxy EXIT
trap 'exit 130' INT TERM
forget

(cd tools && GOWORK=off go run ./modproxy -root .. -version "$version" -to "$proxy")
GOPROXY="file://$proxy,$(go env GOPROXY)"
export GOPROXY GOWORK=off GOFLAGS="$(go env GOFLAGS) -mod=mod -modcacherw" GONOSUMDB="$prefix,$prefix/*" GONOSUMCHECK=1
