package throttle

// Waiting returns the number of goroutines that wait for a slot.
func Waiting() int { return int(all.waiting.Load()) }

// Stop takes Serving back.
func Stop() { serving.Store(false) }
