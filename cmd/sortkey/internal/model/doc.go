// Package model brings model files to life: it finds one by name or path,
// makes its tables and writes its items through a client, and knows the keys
// of tables as the client sees them.
package model
