// Package shell implements sortkey shell. It reads commands on items line by line and runs them on one open database,
// with a line editor and completion from the database.
package shell
