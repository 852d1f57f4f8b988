// Package item works on binary items below what package attr gives to everybody:
// items made of others without decoding them, sets, the bytes of keys, plain
// JSON, and the check of bytes that come from elsewhere.
package item
