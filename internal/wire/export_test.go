package wire

// These functions handle any input or output by reflection, even those with generated code.
var (
	DecodeShape   = decodeShape
	ValidateShape = validateShape
	AppendAny     = appendAny
)
