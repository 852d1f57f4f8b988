package layer

// Touch reads every byte of b.
func Touch(b []byte) uint64 { return touch(b) }
