package check

// RoundUp is roundUp.
var RoundUp = roundUp
