package attr

// A Kind is the data type of a value. The zero Value has the zero Kind.
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

// String returns the type descriptor that DynamoDB JSON and definitions of tables use: "S", "N", … "M", or "" for the
// zero Kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// ParseKind returns the kind with the given type descriptor, such as "NS". It reports false for any other text.
func ParseKind(name string) (Kind, bool) {
	k := parseKind(name)
	return k, k != 0
}

func parseKind[T string | []byte](name T) Kind {
	switch string(name) {
	case "S":
		return String
	case "N":
		return Number
	case "B":
		return Binary
	case "SS":
		return StringSet
	case "NS":
		return NumberSet
	case "BS":
		return BinarySet
	case "BOOL":
		return Bool
	case "NULL":
		return Null
	case "L":
		return List
	case "M":
		return Map
	}
	return 0
}

// IsSet reports whether k is one of the three set kinds, which [NewSet] takes.
func (k Kind) IsSet() bool { return k >= StringSet && k <= BinarySet }

// IsScalar reports whether an attribute of kind k can be a key: S, N or B. [Compare] orders these.
func (k Kind) IsScalar() bool { return k >= String && k <= Binary }

// Elem returns the kind of the elements of a set of kind k, or the zero Kind when k is not a set.
func (k Kind) Elem() Kind {
	if k.IsSet() {
		return k - StringSet + String
	}
	return 0
}
