# Sourced by scripts that go through the modules of the repository: sets modules
# to their folders, as . store/disk cmd/sortkey, and has the function module_path,
# which prints the path of the module in a folder.
modules=($(sed -n '/^use (/,/^)/s#^\t\(\./\)\{0,1\}\([^ )]*\)$#\2#p' all.work))

module_path() {
  if [ "$1" = . ]; then echo github.com/sortkey/sortkey; else echo "github.com/sortkey/sortkey/$1"; fi
}
