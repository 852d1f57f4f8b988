package app

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// ModuleVersion returns the version of the built module, or "" if it is unknown.
func ModuleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// Version describes the build: the module's version, the commit, the compiler.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "sortkey (unknown version)"
	}
	v := cmp.Or(ModuleVersion(), "(devel)")
	about := info.GoVersion
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			about = s.Value[:12] + ", " + about
		}
	}
	return fmt.Sprintf("sortkey %s (%s)", v, about)
}
