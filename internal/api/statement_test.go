package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
)

// More statements and their responses are in sdk/testdata/behaviour/partiql.

// statement returns the body of an ExecuteStatement. more are further members, in JSON.
func statement(text string, more ...string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return strings.Join(append([]string{`{"Statement":` + string(raw)}, more...), ",") + "}"
}

// TestStatementEvents checks that the events of statements have the same tables, slices and units as those of the
// equivalent operations without PartiQL.
func TestStatementEvents(t *testing.T) {
	e := newEndpoint(t, tableR, tableH)
	svc := api.New(e.db, api.Options{Observer: new(watcher)})
	for i := range 4 {
		e.answer("PutItem",
			fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"p%d"},"b":{"S":"s"},"c":{"S":"c"},"d":{"S":"%d"}}}`, i%2,
				i))
	}
	for _, tt := range []struct {
		op, body string
		want     string
	}{
		{
			"ExecuteStatement", statement("SELECT * FROM RRR WHERE a = 'p0' AND begins_with(b, 's')"),
			`[RRR] [a = "p0" AND begins_with(b, "s")] [RRR read 0.5]`,
		},
		{
			"ExecuteStatement", statement("SELECT * FROM RRR WHERE a IN ['p0', 'p1'] AND b = 's'"),
			`[RRR] [a = "p0" AND b = "s", a = "p1" AND b = "s"] [RRR read 1]`,
		},
		{
			"ExecuteStatement",
			statement("SELECT b FROM RRR.index4 WHERE c = 'c' AND d > '1'", `"ReturnConsumedCapacity":"INDEXES"`),
			`[RRR] [c = "c" AND d > "1"] [RRR/index4 read 0.5]`,
		},
		{
			"ExecuteStatement", statement("SELECT * FROM RRR WHERE d = '1'", `"ConsistentRead":true`),
			`[RRR] [scan] [RRR read 1]`,
		},
		{"ExecuteStatement", statement("INSERT INTO HHH VALUE {'a': 'x'}"), `[HHH] [] [HHH write 1]`},
		{
			"ExecuteStatement", statement("INSERT INTO HHH VALUE {'a': 'x'}"),
			`[HHH] [] [HHH write 1] DuplicateItemException`,
		},
		{
			"ExecuteStatement", statement(`UPDATE "HHH" SET b = 1 WHERE a = 'y'`),
			`[HHH] [] [HHH write 1] ConditionalCheckFailedException`,
		},
		{"ExecuteStatement", statement("DELETE FROM None WHERE a = 'x'"), `[None] [] [] ResourceNotFoundException`},
		{"ExecuteStatement", statement("SLECT"), `[] [] [] ValidationException`},
		{"BatchExecuteStatement",
			`{"Statements":[` + statement("DELETE FROM HHH WHERE a = 'x'") + `,` +
				statement("UPDATE RRR SET e = 1 WHERE a = 'p0' AND b = 's'") + `]}`,
			`[HHH RRR] [] [HHH write 1 RRR write 1 RRR/index3 write 1 RRR/index4 write 1 RRR/index1 write 1]`},
		{
			"BatchExecuteStatement", `{"Statements":[` + statement("SELECT * FROM HHH WHERE a = 'x'") + `]}`,
			`[HHH] [] [HHH read 0.5] found 0 of 1`,
		},
		{
			"ExecuteTransaction", `{"TransactStatements":[` + statement("SELECT * FROM HHH WHERE a = 'x'") + `]}`,
			`[HHH] [] [HHH read 2] found 0 of 1`,
		},
		{
			"ExecuteTransaction", `{"TransactStatements":[` + statement("INSERT INTO HHH VALUE {'a': 'z'}") + `]}`,
			`[HHH] [] [HHH write 2]`,
		},
	} {
		var ev event.Event
		_, _ = svc.Serve(event.With(t.Context(), &ev), "DynamoDB_20120810."+tt.op, []byte(tt.body), nil)
		slices := []string{}
		for _, tr := range ev.Traces {
			var clauses []string
			for _, c := range tr.Clauses {
				clauses = append(clauses, c.String())
			}
			if tr.Operation == "Scan" {
				clauses = []string{"scan"}
			}
			slices = append(slices, strings.Join(clauses, " AND "))
		}
		got := fmt.Sprintf("%v [%s] %v %s", ev.Tables, strings.Join(slices, ", "), consumed(&ev), ev.Error)
		if ev.Asked > 0 {
			got += fmt.Sprintf("found %d of %d", ev.Found, ev.Asked)
		}
		require.Equal(t, tt.want, strings.TrimSpace(got), "%s", tt.body)
	}
}

// TestStatementLength checks that a statement may be twice as long as an expression.
func TestStatementLength(t *testing.T) {
	e := newEndpoint(t, tableH)
	e.answer("ExecuteStatement", statement("INSERT INTO HHH VALUE {'a': 'x', 'n': 7}"))
	list := "n IN [" + strings.Repeat("1, ", 99) + "7]"
	long := "SELECT a FROM HHH WHERE a = 'x'" + strings.Repeat(" AND "+list, 24)
	require.Greater(t, len(long), 4096)
	e.want("ExecuteStatement", statement(long), `{"Items":[{"a":{"S":"x"}}]}`)
	sets := "UPDATE HHH SET n = 8"
	for i := range 400 {
		sets += fmt.Sprintf(", attribute%d = 1", i)
	}
	e.answer("ExecuteStatement", statement(sets+" WHERE a = 'x'"))
	e.want("ExecuteStatement", statement("SELECT n, attribute399 FROM HHH WHERE a = 'x'"),
		`{"Items":[{"n":{"N":"8"},"attribute399":{"N":"1"}}]}`)
	out, status := e.serve("ExecuteStatement", statement("SELECT * FROM HHH --"+strings.Repeat(" ", 8192)))
	require.Equal(t, 400, status)
	require.Contains(t, fault(out), "failed to satisfy constraint: Member must have length less than or equal to 8192")
	e.invalid("ExecuteStatement", statement("SELECT * FROM HHH WHERE a IN ["+strings.Repeat("'x',", 50)+"'y']"),
		"Too many decomposed read operations for a given query.")
}

// TestStatementPages checks that a page ends at 1 MB even if it reads several slices.
func TestStatementPages(t *testing.T) {
	e := newEndpoint(t, tableR)
	fat := strings.Repeat("x", 390_000)
	for _, a := range []string{"p", "q", "r"} {
		for b := range 2 {
			e.answer("PutItem",
				fmt.Sprintf(`{"TableName":"RRR","Item":{"a":{"S":"%s"},"b":{"S":"%d"},"fat":{"S":"%s"}}}`, a, b, fat))
		}
	}
	var pages []int
	body := statement("SELECT a, b FROM RRR WHERE a IN ['p', 'q', 'r']")
	for next := body; next != ""; {
		var page struct {
			Items     []json.RawMessage
			NextToken string
		}
		require.NoError(t, json.Unmarshal([]byte(e.answer("ExecuteStatement", next)), &page))
		pages = append(pages, len(page.Items))
		if next = ""; page.NextToken != "" {
			next = strings.TrimSuffix(body, "}") + `,"NextToken":"` + page.NextToken + `"}`
		}
	}
	require.Equal(t, []int{4, 2}, pages)
}
