package wire

import "strings"

// A Fault is an attribute value that was well formed and is not allowed, found
// while a request was read.
type Fault struct {
	// Path is where the value stands, names and positions joined by dots, as
	// Item, ExpressionAttributeValues.:v or RequestItems.T.0.PutRequest.Item.
	// An item's path stands for all its attributes.
	Path string
	// Msg is the service's text, without what an operation puts around it.
	Msg string
	// Older is the text of the operations in the older layer of validation;
	// see texts.go. Empty means the same as Msg.
	Older string
}

// Faults are the faults of one request in the order they were read.
type Faults []Fault

// At returns the first fault at path or below it, nil when there is none. An
// empty path is the whole request.
func (f Faults) At(path string) *Fault {
	for i := range f {
		rest, ok := strings.CutPrefix(f[i].Path, path)
		if ok && (rest == "" || path == "" || rest[0] == '.') {
			return &f[i]
		}
	}
	return nil
}

// FaultError returns the error of the first fault at path or below it, in op's
// wording; nil when there is none.
func (op Op) FaultError(f Faults, path string) error {
	if found := f.At(path); found != nil {
		return op.Invalid(op.faultText(found))
	}
	return nil
}
