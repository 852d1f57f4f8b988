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
