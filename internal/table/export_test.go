package table

// Versions returns the number of earlier versions that are kept.
func (db *DB) Versions() int {
	l := db.lag.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}
