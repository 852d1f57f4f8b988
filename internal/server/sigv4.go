package server

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	algorithm   = "AWS4-HMAC-SHA256"
	serviceName = "dynamodb"
	terminator  = "aws4_request"
	basicTime   = "20060102T150405Z"
	skew        = 15 * time.Minute
	maxExpires  = 7 * 24 * time.Hour
)

// A signature holds the parts of a request's signature.
type signature struct {
	algorithm  string
	credential string // keyid/date/region/service/term
	headers    string // names, separated by semicolons
	value      string // hexadecimal
	date       string // ISO 8601, basic format
	valid      time.Duration
	query      bool // the signature is in the query string

	names  []string // headers, in lower case
	scope  []string // credential, split
	secret string
}

// readSignature returns the Signature Version 4 of a request after all checks that need no body. The order of the
// checks and the messages are DynamoDB's (dynalite, index.js and test/connection.js).
func readSignature(r *http.Request, secrets map[string]string, now time.Time) (*signature, *failure) {
	sig, f := parseSignature(r)
	if f == nil {
		f = sig.check(r, secrets, now)
	}
	return sig, f
}

// An Isolation is the part of a request that names its database.
type Isolation uint8

// With ByKeyAndRegion the name is the access key, an at sign and the Region of the signature. With ByPath it is the
// path of the address, without slashes at its ends.
const (
	Shared Isolation = iota
	ByKey
	ByKeyAndRegion
	ByPath
)

// database returns the name of the database that a request is for, or "" if it names none. Without a signature, only
// ByPath finds a name. It refuses an incomplete signature.
func (i Isolation) database(r *http.Request) (string, *failure) {
	switch i {
	case Shared:
		return "", nil
	case ByPath:
		return strings.Trim(r.URL.Path, "/"), nil
	}
	sig, f := parseSignature(r)
	switch f {
	case nil:
	case errUnsigned:
		return "", nil
	default:
		return "", f
	}
	scope := strings.SplitN(sig.credential, "/", 4)
	if scope[0] == "" || i == ByKey || len(scope) < 3 {
		return scope[0], nil
	}
	return scope[0] + "@" + scope[2], nil
}

func (sig *signature) check(r *http.Request, secrets map[string]string, now time.Time) *failure {
	at, err := time.Parse(basicTime, sig.date)
	if err != nil {
		return badRequest("IncompleteSignatureException",
			fmt.Sprintf("Date must be in ISO-8601 'basic format'. Got '%s'. See http://en.wikipedia.org/wiki/ISO_8601",
				sig.date))
	}
	now = now.UTC()
	if oldest := now.Add(-sig.valid); at.Before(oldest) {
		return badRequest("InvalidSignatureException", fmt.Sprintf("Signature expired: %s is now earlier than %s (%s "+
			"- %s)",
			sig.date, oldest.Format(basicTime), now.Format(basicTime), span(sig.valid)))
	}
	if newest := now.Add(skew); at.After(newest) {
		return badRequest("InvalidSignatureException", fmt.Sprintf("Signature not yet current: "+
			"%s is still later than %s (%s + %s)",
			sig.date, newest.Format(basicTime), now.Format(basicTime), span(skew)))
	}

	sig.names = strings.Split(strings.ToLower(sig.headers), ";")
	if !slices.Contains(sig.names, "host") {
		return badRequest("InvalidSignatureException", "'Host' must be a 'SignedHeader' in the AWS Authorization.")
	}
	if sig.algorithm != algorithm {
		return badRequest("IncompleteSignatureException",
			fmt.Sprintf("Unsupported AWS 'algorithm': '%s' (only %s for now). ", sig.algorithm, algorithm))
	}
	sig.scope = strings.Split(strings.TrimRight(sig.credential, "/"), "/")
	if len(sig.scope) != 5 {
		return badRequest("IncompleteSignatureException",
			fmt.Sprintf("Credential must have exactly 5 slash-delimited elements, e.g. "+
				"keyid/date/region/service/term, got '%s'", sig.credential))
	}
	if f := checkScope(sig.scope, sig.date); f != nil {
		return f
	}

	var ok bool
	if sig.secret, ok = secrets[sig.scope[0]]; !ok {
		return badRequest("UnrecognizedClientException", "The security token included in the request is invalid.")
	}

	// If the target were not signed, anybody who sees a signed request could send it as another operation.
	if r.Header["X-Amz-Target"] != nil && !slices.Contains(sig.names, "x-amz-target") &&
		!(sig.query && r.URL.Query().Has("X-Amz-Target")) {
		return badRequest(
			"InvalidSignatureException", "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.",
		)
	}
	return nil
}

// verify checks that the signature matches the request and its body.
func (sig *signature) verify(r *http.Request, body []byte) *failure {
	canonical := canonicalRequest(r, body, sig.names, sig.query)
	toSign := strings.Join(
		[]string{algorithm, sig.date, strings.Join(sig.scope[1:], "/"), hexSum([]byte(canonical))}, "\n",
	)
	key := []byte("AWS4" + sig.secret)
	for _, part := range sig.scope[1:] {
		key = mac(key, part)
	}
	if want := fmt.Sprintf("%x", mac(key, toSign)); !hmac.Equal([]byte(want), []byte(sig.value)) {
		return badRequest("InvalidSignatureException",
			"The request signature we calculated does not match the signature you provided. "+
				"Check your AWS Secret Access Key and signing method. "+
				"Consult the service documentation for details.\n\n"+
				"The Canonical String for this request should have been\n'"+canonical+"'\n\n"+
				"The String-to-Sign should have been\n'"+toSign+"'\n")
	}
	return nil
}

func checkScope(scope []string, date string) *failure {
	var msg []string
	if scope[2] == "" {
		msg = append(msg, "Credential should be scoped to a valid region, not ''. ")
	}
	if scope[3] != serviceName {
		msg = append(msg, "Credential should be scoped to correct service: 'dynamodb'. ")
	}
	if scope[4] != terminator {
		msg = append(
			msg,
			fmt.Sprintf("Credential should be scoped with a valid terminator: 'aws4_request', not '%s'. ", scope[4]),
		)
	}

	if day := date[:8]; scope[1] != day {
		msg = append(
			msg,
			fmt.Sprintf("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "+
				"'%s' != '%s', from '%s'.", scope[1], day, date),
		)
	}

	if msg == nil {
		return nil
	}
	return badRequest("InvalidSignatureException", strings.Join(msg, ""))
}

var errUnsigned = badRequest("MissingAuthenticationTokenException", "Request is missing Authentication Token")

// parseSignature parses the signature of a request from its Authorization
// header or, if it is presigned, from its query string.
func parseSignature(r *http.Request) (*signature, *failure) {
	auth, query := r.Header.Get("Authorization"), r.URL.Query()
	presigned := query.Has("X-Amz-Algorithm")
	switch {
	case auth != "" && presigned:
		return nil, badRequest(
			"InvalidSignatureException",
			"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
		)
	case presigned:
		return parseQuery(query)
	case !strings.HasPrefix(strings.TrimSpace(auth), "AWS4-"):
		return nil, errUnsigned
	}
	return parseHeader(r.Header, auth)
}

func parseHeader(h http.Header, auth string) (*signature, *failure) {
	name, rest, _ := strings.Cut(strings.TrimSpace(auth), " ")
	fields := map[string]string{}
	for _, part := range strings.FieldsFunc(rest, func(c rune) bool { return c == ',' || c == ' ' }) {
		k, v, ok := strings.Cut(part, "=")
		if !ok {
			return nil, badRequest("IncompleteSignatureException",
				fmt.Sprintf("'%s' not a valid key=value pair (missing equal-sign) in Authorization header: '%s'.",
					part, auth))
		}
		fields[k] = v
	}

	var msg strings.Builder
	for _, k := range []string{"Credential", "Signature", "SignedHeaders"} {
		if fields[k] == "" {
			fmt.Fprintf(&msg, "Authorization header requires '%s' parameter. ", k)
		}
	}
	date := h.Get("X-Amz-Date")
	if date == "" {
		date = h.Get("Date")
		if t, err := http.ParseTime(date); err == nil {
			date = t.UTC().Format(basicTime)
		}
	}

	if date == "" {
		msg.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	if msg.Len() > 0 {
		return nil, badRequest("IncompleteSignatureException", msg.String()+"Authorization="+auth)
	}
	return &signature{
		algorithm: name, credential: fields["Credential"], headers: fields["SignedHeaders"],
		value: fields["Signature"], date: date, valid: skew,
	}, nil
}

func parseQuery(query url.Values) (*signature, *failure) {
	var msg strings.Builder
	for _, k := range []string{
		"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date",
	} {
		if query.Get(k) == "" {
			fmt.Fprintf(&msg, "AWS query-string parameters must include '%s'. ", k)
		}
	}

	if msg.Len() > 0 {
		return nil, badRequest(
			"IncompleteSignatureException", msg.String()+"Re-examine the query-string parameters.",
		)
	}
	valid := skew
	if query.Has("X-Amz-Expires") {
		n, err := strconv.Atoi(query.Get("X-Amz-Expires"))
		if err != nil || n < 0 || n > int(maxExpires/time.Second) {
			return nil, badRequest(
				"IncompleteSignatureException", "X-Amz-Expires must be a number of seconds between 0 and 604800.",
			)
		}
		valid = time.Duration(n) * time.Second
	}

	return &signature{
		algorithm: query.Get("X-Amz-Algorithm"), credential: query.Get("X-Amz-Credential"),
		headers: query.Get("X-Amz-SignedHeaders"),
		value:   query.Get("X-Amz-Signature"), date: query.Get("X-Amz-Date"), valid: valid, query: true,
	}, nil
}

// canonicalRequest returns the canonical form of a request, which the sender's signature covers (IAM User Guide,
// "Create a signed AWS API request").
func canonicalRequest(r *http.Request, body []byte, names []string, presigned bool) string {
	query := r.URL.Query()
	if presigned {
		query.Del("X-Amz-Signature")
	}
	path := cmp.Or(r.URL.EscapedPath(), "/")
	var b strings.Builder
	b.WriteString(r.Method + "\n")
	// All services but S3 escape the escaped path once more.
	b.WriteString(strings.ReplaceAll(url.QueryEscape(path), "%2F", "/"))
	b.WriteString("\n" + canonicalQuery(query) + "\n")
	for _, name := range names {
		b.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	b.WriteString("\n" + strings.Join(names, ";") + "\n" + hexSum(body))
	return b.String()
}

// canonicalQuery returns the parameters of a query, encoded and sorted by their encoded names and values.
func canonicalQuery(query url.Values) string {
	params := strings.Split(strings.ReplaceAll(query.Encode(), "+", "%20"), "&")
	slices.SortFunc(params, func(a, b string) int {
		nameA, valueA, _ := strings.Cut(a, "=")
		nameB, valueB, _ := strings.Cut(b, "=")
		return cmp.Or(strings.Compare(nameA, nameB), strings.Compare(valueA, valueB))
	})
	return strings.Join(params, "&")
}

func headerValue(r *http.Request, name string) string {
	switch name {
	case "host":
		return r.Host
	case "content-length":
		return strconv.FormatInt(max(r.ContentLength, 0), 10)
	}
	values := slices.Clone(r.Header.Values(name))
	for i, v := range values {
		values[i] = strings.TrimSpace(strings.Join(strings.FieldsFunc(v, func(c rune) bool { return c == ' ' }), " "))
	}
	return strings.Join(values, ",")
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hexSum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func span(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min.", d/time.Minute)
	}
	return fmt.Sprintf("%d sec.", d/time.Second)
}
