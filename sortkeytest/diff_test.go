package sortkeytest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// naiveDiff compares the dumps of two databases line by line. It shows a changed item as a deleted item and a new
// item.
func naiveDiff(before, now string) (lines []string) {
	inTable := func(dump string) (all []string) {
		head := ""
		for line := range strings.Lines(dump) {
			if line[0] != '"' {
				head = line
			} else {
				all = append(all, head+line)
			}
		}
		return all
	}
	was, is := inTable(before), inTable(now)
	for _, line := range was {
		if !slices.Contains(is, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			lines = append(lines, "+ "+line)
		}
	}
	slices.Sort(lines)
	return lines
}

// TestDiffIsThatOfDumps randomly changes databases, their forks and forks of those, and deletes and creates their
// tables. It compares Diff with the difference of the dumps.
func TestDiffIsThatOfDumps(t *testing.T) {
	proptest.Check(t, 40, func(p *proptest.T) {
		first := sortkeytest.New(t)
		all := []*sortkeytest.DB{first}
		for _, table := range []string{"Aaa", "Bbb"} {
			first.Table(table, "id / n:N")
		}
		write := func(db *sortkeytest.DB) {
			table := proptest.Pick(p, "Aaa", "Bbb")
			if p.Often(5) {
				_, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table})
				require.NoError(p, err)
				db.Table(table, "id / n:N")
			}
			id, from := fmt.Sprint(p.IntN(3)), p.IntN(100)
			for i := range p.Between(0, 40) {
				db.Put(table, map[string]any{"id": id, "n": from + i, "v": p.IntN(3)})
			}
		}
		for range p.Between(2, 12) {
			db := proptest.Pick(p, all...)
			if p.Bool() && len(all) < 5 {
				all = append(all, db.Fork(t))
			}
			write(db)
		}
		before, now := proptest.Pick(p, all...), proptest.Pick(p, all...)
		var got []string
		head := ""
		for line := range strings.Lines(now.Diff(before)) {
			switch line[:2] {
			case "- ", "+ ":
				got = append(got, line[:2]+head+line[2:])
			case "~ ": // v: old → new, or what is new
				key, change, _ := strings.Cut(line[2:], "  {v: ")
				was, is, _ := strings.Cut(strings.TrimSuffix(change, "}\n"), " → ")
				got = append(got, "- "+head+key+"  {v: "+was+"}\n", "+ "+head+key+"  {v: "+is+"}\n")
			default:
				head = line
			}
		}
		slices.Sort(got)
		require.Equal(p, naiveDiff(before.Dump(), now.Dump()), got)
		for _, db := range all {
			require.NoError(p, db.Close())
		}
	})
}
