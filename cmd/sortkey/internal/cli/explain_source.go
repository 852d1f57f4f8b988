package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/design/compile"
	report "github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/sdk"
)

// An explainSource is a database on which requests are explained.
type explainSource struct {
	target   report.Target
	client   *dynamodb.Client
	classify func(table string, it attr.Item) string
	model    *model.Model // nil if there is none
	close    func() error
}

func (a *App) openExplain(ctx context.Context, f *explainFlags) (*explainSource, error) {
	if f.model != "" && f.endpoint != "" {
		return nil, usage("explain", "--model and --endpoint exclude each other")
	}
	if f.model != "" {
		return openDesign(ctx, f)
	}
	src, err := a.open(ctx, f.sourceFlags)
	if err != nil {
		return nil, err
	}
	opts := src.client.Options()
	signing := &http.Client{Timeout: requestTimeout, Transport: &signer{
		next: http.DefaultTransport, credentials: opts.Credentials, region: opts.Region, sign: v4.NewSigner(),
	}}
	return &explainSource{
		target: report.HTTP(aws.ToString(opts.BaseEndpoint), signing, nil), client: src.client,
		classify: byAttribute(f.entity), close: src.close,
	}, nil
}

// openDesign builds the world of a model, including generated items.
func openDesign(ctx context.Context, f *explainFlags) (*explainSource, error) {
	w, err := buildWorld(ctx, f.model)
	if err != nil {
		return nil, err
	}
	m, other := w.Model, byAttribute(f.entity)
	classify := func(table string, it attr.Item) string {
		if t := m.Table(table); t != nil {
			if e := m.Classify(t, it); e != nil {
				return e.Name
			}
		}
		return other(table, it)
	}
	return &explainSource{target: report.InProcess(w.DB), client: sdk.Client(w.DB), classify: classify, model: m, close: w.Close}, nil
}

// byAttribute classifies an item by the first of some attributes that is a string.
func byAttribute(names []string) func(string, attr.Item) string {
	return func(_ string, it attr.Item) string {
		for _, name := range names {
			if v := it.Get(name); v.Kind() == attr.String {
				return string(v.Raw())
			}
		}
		return ""
	}
}

// pattern returns the request of an access pattern of the model.
func (s *explainSource) pattern(name string) (string, json.RawMessage, error) {
	if s.model == nil {
		return "", nil, usage("explain", "--pattern needs --model")
	}
	p, err := patternNamed(s.model, name)
	if err != nil {
		return "", nil, err
	}
	request, err := compile.PatternJSON(s.model, p)
	if refused, ok := errors.AsType[*compile.Error](err); ok {
		return "", nil, &advice.Error{
			Msg: p.Name + " is not one request: " + refused.Msg, Advice: refused.Advice, Err: err,
		}
	}
	return p.Operation, request, err
}

// completePatterns returns the names of the model's patterns with a prefix.
func (f *explainFlags) completePatterns(toComplete string) []string {
	if f.model == "" {
		return nil
	}
	m, err := models.Find(f.model)
	if err != nil {
		return nil
	}
	return withPrefix(patternNames(m), toComplete)
}

// A signer signs requests for endpoints that check signatures.
type signer struct {
	next        http.RoundTripper
	credentials aws.CredentialsProvider
	region      string
	sign        *v4.Signer
}

// RoundTrip implements [http.RoundTripper].
func (s *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return nil, errors.New("request without a body")
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	signed := req.Clone(req.Context())
	signed.Body = io.NopCloser(bytes.NewReader(body))
	keys, err := s.credentials.Retrieve(req.Context())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	if err := s.sign.SignHTTP(req.Context(), keys, signed, hex.EncodeToString(sum[:]), "dynamodb", s.region, time.Now()); err != nil {
		return nil, err
	}
	return s.next.RoundTrip(signed)
}
