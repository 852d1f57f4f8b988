package wire

import "strings"

// A Fault is an attribute value in a request that is well formed but not
// allowed.
type Fault struct {
	// Path is the path of the value: names and list indexes joined by dots, such as Item,
	// ExpressionAttributeValues.:v or RequestItems.T.0.PutRequest.Item. All attributes of an item have the item's
	// path.
	Path string
	// Msg is the service's message, without the text that some operations add.
	Msg string
	// Older is the message of operations that the older layer of validation handles, see texts.go. It is "" if both
	// layers have Msg.
	Older string
}

// Nesting reports whether the value is nested too deep.
func (f *Fault) Nesting() bool { return strings.HasPrefix(f.Msg, "Nesting Levels") }

// Faults are the faults of one request in the order in which they were read.
type Faults []Fault

// At returns the first fault at path or below it, or nil. An empty path means the whole request.
func (f Faults) At(path string) *Fault {
	for i := range f {
		rest, ok := strings.CutPrefix(f[i].Path, path)
		if ok && (rest == "" || path == "" || rest[0] == '.') {
			return &f[i]
		}
	}
	return nil
}

// FaultError returns the error for the first fault at path or below it, with the message of the operation op. It
// returns nil if there is no such fault.
func (op Op) FaultError(f Faults, path string) error {
	if found := f.At(path); found != nil {
		return op.Invalid(op.faultText(found))
	}
	return nil
}
