package mask

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// fakes are the kinds of values that have realistic stand-ins.
var fakes = []string{"name", "email", "phone"}

var (
	firstNames = strings.Fields("Ada Alan Ana Barbara Ben Carla Chen Dana Dmitri Elena Emil Fatima Femi " +
		"Grace Hanna Hugo Ines Ivan Jana Jun Kaya Klaus Leila Liam Maria Mei Milan Nadia Noor Olga Omar Paula Pedro " +
		"Rosa Samir Sofia Tariq Uma Viktor Wanda Yara Zoe")
	lastNames = strings.Fields("Abe Baker Costa Diaz Eriksen Fischer Garcia Haddad Ivanov Jensen Kim " +
		"Lopez Moreau Nowak Okafor Patel Quinn Rossi Sato Tran Ueda Varga Weber Xu Yilmaz Zhang")
)

// fake returns a realistic stand-in. Equal texts always get the same stand-in. Different texts can get the same name,
// but almost never the same email or phone number.
func (m mint) fake(kind, text string) string {
	d := m.digest(string(fake), kind, text)
	pick := func(list []string, i int) string {
		return list[binary.BigEndian.Uint16(d[2*i:])%uint16(len(list))]
	}
	first, last := pick(firstNames, 0), pick(lastNames, 1)
	switch kind {
	case "name":
		return first + " " + last
	case "email": // example.com is reserved: RFC 2606
		return strings.ToLower(first+"."+last) + "." + hex.EncodeToString(d[8:14]) + "@example.com"
	}
	// No such country code.
	return fmt.Sprintf("+999%012d", binary.BigEndian.Uint64(d[8:])%1e12)
}
