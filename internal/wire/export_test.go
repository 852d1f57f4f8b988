package wire

// ValidateShape checks any input by reflection, even one with a generated check.
var ValidateShape = validateShape
