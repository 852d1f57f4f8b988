// Package item works on binary items below the public API of package attr: it
// builds items from others without decoding them, combines sets, encodes keys,
// writes plain JSON, and checks bytes from elsewhere.
package item
