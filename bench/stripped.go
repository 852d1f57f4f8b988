package bench

import "runtime/debug"

// stripped says how the program was linked.
func stripped() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown flags"
	}
	for _, s := range info.Settings {
		if s.Key == "-ldflags" {
			return "-ldflags=" + s.Value
		}
	}
	return "with the linker's usual flags, or with -trimpath, which hides them"
}
