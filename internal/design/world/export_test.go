package world

var Power = power

// MaxZipf is the largest number of values of a zipf distribution.
const MaxZipf = maxZipf
