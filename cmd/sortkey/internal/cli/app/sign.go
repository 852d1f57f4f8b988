package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// A signer is an [http.RoundTripper] that signs requests, for endpoints that check signatures.
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
	err = s.sign.SignHTTP(
		req.Context(), keys, signed, hex.EncodeToString(sum[:]), "dynamodb", s.region, time.Now(),
	)
	if err != nil {
		return nil, err
	}
	return s.next.RoundTrip(signed)
}
