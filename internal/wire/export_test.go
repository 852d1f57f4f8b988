package wire

// These handle inputs and outputs by reflection, also those that generated code handles.
var (
	DecodeShape   = decodeShape
	ValidateShape = validateShape
	AppendAny     = appendAny
)
