package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask sends a form as the query box does.
func (c *client) ask(form url.Values) (status int, page string) {
	c.Helper()
	resp, err := http.PostForm(c.url+"/query?name=Shop", form)
	require.NoError(c, err)
	return resp.StatusCode, c.read(resp)
}

// hints are the suggestions in an answer: what to request instead, or how to read less.
func hints(page string) (all []string) {
	_, list, _ := strings.Cut(page, `<ul class="ways">`)
	list, _, _ = strings.Cut(list, "</ul>")
	for _, m := range regexp.MustCompile(`<li><p>(.*?)</p></li>`).FindAllStringSubmatch(list, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

// TestRequest sends whole requests. It tests that the page draws a SELECT as the query that it is, with the bounds of
// the slice as text and bytes.
func TestRequest(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	for _, request := range []string{
		`SELECT * FROM Shop WHERE PK = 'CUSTOMER#c1' AND begins_with(SK, 'ORDER#000') AND total > 5`,
		`{"TableName": "Shop", "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)", "FilterExpression": "#t > :t", "ExpressionAttributeNames": {"#t": "total"},
			"ExpressionAttributeValues": {":p": {"S": "CUSTOMER#c1"}, ":s": {"S": "ORDER#000"}, ":t": {"N": "5"}}}`,
	} {
		status, page := c.ask(url.Values{"request": {request}})
		require.Equal(t, http.StatusOK, status, page)
		require.Contains(t, page, "10 rows, 4 returned", request)
		require.Contains(t, page, `class="bracket"`)
		require.Contains(t, page, `from &#34;ORDER#000&#34;`)
		require.Contains(t, page, `before &#34;ORDER#001&#34;`)
		require.Contains(t, page, "aws dynamodb")
	}

	_, page := c.ask(url.Values{"request": {`SELECT * FROM Shop WHERE total > 5`}})
	require.Contains(t, page, "32 rows, 24 returned")
	require.Contains(t, page, "the SELECT is a scan")
	_, page = c.ask(url.Values{"request": {`SELECT * FROM Shop WHERE PK IN ['CUSTOMER#c1', 'CUSTOMER#c2']`}})
	require.Contains(t, page, "the SELECT is 2 queries")
	require.NotContains(t, page, "refuses")
	require.Len(t, hints(page), 2)
	_, page = c.ask(url.Values{"request": {`{"TableName": "Shop", "Key": {"PK": {"S": "CUSTOMER#c1"}, "SK": {"S": "PROFILE#"}}}`}})
	require.Contains(t, page, "1 row, 1 returned")

	for request, want := range map[string]string{
		`UPDATE Shop SET total = 1 WHERE PK = 'CUSTOMER#c1' AND SK = 'PROFILE#'`: "neither JSON nor a SELECT",
		`SELECT * FORM Shop`: "FORM",
		`aws dynamodb query --cli-input-json file:///etc/passwd`: "neither JSON nor a SELECT",
		`{`: "not valid JSON",
		`{"Statement": "DELETE FROM Shop WHERE PK = 'x' AND SK = 'y'"}`: "only SELECT statements",
		strings.Repeat("x", 1<<20):                                      "too large",
	} {
		status, text := c.ask(url.Values{"request": {request}})
		require.Equal(t, http.StatusBadRequest, status, text)
		require.Contains(t, text, want, request[:min(len(request), 100)])
	}
	require.NotContains(t, c.db.Dump(), `"total": 1,`)
}

// TestRefused tests that the answer to a request that the service rejects names the rule, and suggests other
// requests.
func TestRefused(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	_, page := c.ask(url.Values{"request": {`{"TableName": "Shop", "KeyConditionExpression": "PK = :p AND contains(SK, :s)",
		"ExpressionAttributeValues": {":p": {"S": "CUSTOMER#c1"}, ":s": {"S": "ORDER"}}}`}})
	require.Contains(t, page, "The service refuses the request: ValidationException")
	require.Contains(t, page, "Rule: ")
	require.Contains(t, page, "docs.aws.amazon.com")
	require.Contains(t, hints(page)[0], `query the table with PK = "CUSTOMER#c1"`)

	// The answer makes invisible characters visible.
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#\u202e\u0007\U000e0041", "SK": "x"})
	_, page = c.ask(url.Values{"request": {`{"TableName": "Shop", "KeyConditionExpression": "PK = :p AND SK <> :s",
		"ExpressionAttributeValues": {":p": {"S": "CUSTOMER#\u202e\u0007\udb40\udc41"}, ":s": {"S": "y"}}}`}})
	require.Contains(t, hints(page)[0], `query the table with PK = "CUSTOMER#\u202e\a\U000e0041"`)
}
