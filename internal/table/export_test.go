package table

// Versions returns how many earlier versions are kept.
func (db *DB) Versions() int {
	l := db.lag.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}
