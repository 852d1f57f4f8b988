package expr

// Limits of expressions. Source: DG/Constraints.html.
const (
	// MaxExpressionBytes is the length of the longest expression, in bytes.
	MaxExpressionBytes = 4096
	// MaxOperators is the largest number of operators in an expression:
	// comparisons, BETWEEN, IN, AND, OR, NOT and arithmetic. Functions do not
	// count.
	MaxOperators = 300
	// MaxInOperands is the largest number of operands in the list of an IN.
	MaxInOperands = 100
	// MaxPathSteps is the largest number of names and indexes in a document
	// path.
	MaxPathSteps = 32
	// MaxTokenBytes is the length of the longest #name or :value, in bytes, including the # or the colon.
	MaxTokenBytes = 255
	// MaxSubstitutionBytes limits ExpressionAttributeNames and
	// ExpressionAttributeValues together: their keys, the attribute names and
	// the sizes of the values.
	MaxSubstitutionBytes = 2 << 20
	// maxListIndex is the largest index in a document path.
	maxListIndex = 1<<31 - 1
)
