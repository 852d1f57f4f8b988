// Package shell implements sortkey shell: the commands on items, line by line, on one open
// database, with a line editor and completion from the database.
package shell
