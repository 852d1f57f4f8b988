package bench

import "runtime/debug"

// stripped says how the program was linked.
func stripped() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown flags"
	}
	cgo, flags := "", "with the linker's usual flags, or with -trimpath, which hides them"
	for _, s := range info.Settings {
		switch s.Key {
		case "CGO_ENABLED":
			cgo = "CGO_ENABLED=" + s.Value + ", "
		case "-ldflags":
			flags = "-ldflags=" + s.Value
		}
	}
	return cgo + flags
}
