package attr

// Kind is the data type of a value. The zero Kind means that there is none.
//
// Source: DG/HowItWorks.NamingRulesDataTypes.html.
type Kind uint8

// The ten kinds. Their numbers are part of the stored form.
const (
	String Kind = iota + 1
	Number
	Binary
	StringSet
	NumberSet
	BinarySet
	Bool
	Null
	List
	Map
)

var kindNames = [...]string{"", "S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"}

// String returns the descriptor DynamoDB JSON uses: "S", "N", … "M", or ""
// for no kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// ParseKind returns the kind with the given descriptor, such as "NS".
func ParseKind(name string) (Kind, bool) {
	for k := String; k <= Map; k++ {
		if kindNames[k] == name {
			return k, true
		}
	}
	return 0, false
}

// IsSet reports whether k is one of the three set kinds.
func (k Kind) IsSet() bool { return k >= StringSet && k <= BinarySet }

// IsScalar reports whether k can be a key: S, N or B.
func (k Kind) IsScalar() bool { return k >= String && k <= Binary }

// Elem returns the kind of a set's elements, or no kind when k is not a set.
func (k Kind) Elem() Kind {
	if k.IsSet() {
		return k - StringSet + String
	}
	return 0
}
