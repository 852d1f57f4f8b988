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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/hint"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/design"
	report "github.com/sortkey/sortkey/design/explain"
	"github.com/sortkey/sortkey/examples"
	"github.com/sortkey/sortkey/sdk"
)

// An explainSource is what a request is explained on.
type explainSource struct {
	target   report.Target
	client   *dynamodb.Client
	classify func(table string, it attr.Item) string
	model    *design.Model    // nil if there is none
	system   *examples.System // nil if there is none
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
		target: report.HTTP(aws.ToString(opts.BaseEndpoint), signing, nil), client: src.client, classify: byAttribute(f.entity), close: src.close,
	}, nil
}

// openDesign builds the world of a model file, or loads an example.
func openDesign(ctx context.Context, f *explainFlags) (*explainSource, error) {
	if ext := strings.ToLower(filepath.Ext(f.model)); ext == ".yaml" || ext == ".yml" {
		return openWorld(ctx, f.model)
	}
	s, err := model.Find(f.model)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		// It is a file: perhaps a design in JSON.
		if src, designErr := openWorld(ctx, f.model); designErr == nil {
			return src, nil
		}
	}
	if err != nil {
		return nil, err
	}
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return nil, err
	}
	client := sdk.Client(db)
	if err := model.Load(ctx, client, s); err != nil {
		db.Close()
		return nil, err
	}
	return &explainSource{target: report.InProcess(db), client: client, classify: byAttribute(f.entity), system: s, close: db.Close}, nil
}

func openWorld(ctx context.Context, path string) (*explainSource, error) {
	m, err := loadModel(path)
	if err != nil {
		return nil, err
	}
	w, err := design.Build(ctx, m, design.Options{})
	if err != nil {
		return nil, err
	}
	classify := func(table string, it attr.Item) string {
		if t := m.Table(table); t != nil {
			if e := m.Classify(t, it); e != nil {
				return e.Name
			}
		}
		return ""
	}
	return &explainSource{target: report.InProcess(w.DB), client: sdk.Client(w.DB), classify: classify, model: m, close: w.Close}, nil
}

// byAttribute takes the text in the first attribute there is for the entity.
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
	switch {
	case s.model != nil:
		p, err := patternNamed(s.model, name)
		if err != nil {
			return "", nil, err
		}
		return p.Compile(s.model)
	case s.system != nil:
		at := slices.IndexFunc(s.system.Patterns, func(p examples.Pattern) bool { return p.Name == name })
		if at >= 0 {
			op, request := s.system.Patterns[at].Operation()
			return op, request, nil
		}
		return "", nil, hint.New("its patterns are:\n  "+strings.Join(s.patternNames(), "\n  "), "the model has no access pattern %q", name)
	}
	return "", nil, usage("explain", "--pattern needs --model")
}

func (s *explainSource) patternNames() (names []string) {
	if s.model != nil {
		return patternNames(s.model)
	}
	if s.system != nil {
		for _, p := range s.system.Patterns {
			names = append(names, p.Name)
		}
	}
	return names
}

// completePatterns returns the patterns of the model whose names begin so.
func (f *explainFlags) completePatterns(ctx context.Context, toComplete string) []string {
	if f.model == "" {
		return nil
	}
	ctx, cancel := completionContext(ctx)
	defer cancel()
	src, err := openDesign(ctx, f)
	if err != nil {
		return nil
	}
	defer src.close()
	return starting(src.patternNames(), toComplete)
}

// A signer signs requests, for endpoints that want to know who asks.
type signer struct {
	next        http.RoundTripper
	credentials aws.CredentialsProvider
	region      string
	sign        *v4.Signer
}

// RoundTrip implements [http.RoundTripper].
func (s *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return nil, errors.New("a request without a body")
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
