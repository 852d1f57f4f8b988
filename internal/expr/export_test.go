package expr

// Creates is the method creates, for tests.
func Creates(u *Update) bool { return u.creates() }
