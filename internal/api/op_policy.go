package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of the texts in this file: "quirks", which is captures of the service in
// October 2026 (ack-api-quirks, services/dynamodb), findings DDB-TABLE-205 to 214
// and 351 to 356; moto, test_dynamodb_resource_policy.py.

// maxPolicy is the size of the largest resource policy in bytes.
const maxPolicy = 20480

// wrongParameter begins messages about parameters.
const wrongParameter = "One or more parameter values were invalid: "

const msgOwner = "This action is only supported by accounts that match the resource owner’s account."

// A policyDocument is a resource policy in the order in which the service returns
// its members.
type policyDocument struct {
	Version   string
	ID        string     `json:"Id,omitempty"`
	Statement statements // one, or a list
}

type statement struct {
	Sid          string          `json:",omitempty"`
	Effect       string          `json:",omitempty"`
	Principal    json.RawMessage `json:",omitempty"`
	NotPrincipal json.RawMessage `json:",omitempty"`
	Action       oneOrMore       `json:",omitzero"`
	NotAction    oneOrMore       `json:",omitzero"`
	Resource     oneOrMore       `json:",omitzero"`
	NotResource  oneOrMore       `json:",omitzero"`
	Condition    json.RawMessage `json:",omitempty"`
}

type statements []statement

func (s *statements) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		*s = make(statements, 1)
		return json.Unmarshal(data, &(*s)[0])
	}
	return json.Unmarshal(data, (*[]statement)(s))
}

// oneOrMore is a list of strings; one of them is written without the list.
type oneOrMore []string

func (l *oneOrMore) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]string)(l))
	}
	*l = make(oneOrMore, 1)
	return json.Unmarshal(data, &(*l)[0])
}

func (l oneOrMore) MarshalJSON() ([]byte, error) {
	if len(l) == 1 {
		return json.Marshal(l[0])
	}
	return json.Marshal([]string(l))
}

// canonicalPolicy checks a resource policy and returns it in the form in which
// the service keeps it.
func canonicalPolicy(text string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", wire.Validation(wrongParameter + fmt.Sprintf(format, args...))
	}
	if len(text) > maxPolicy {
		return bad("Maximum policy size of %d bytes exceeded", maxPolicy)
	}
	var doc policyDocument
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return bad("Invalid policy document: This policy contains invalid Json")
	}
	if len(doc.Statement) == 0 {
		return bad("Invalid policy document: Could not parse the policy: Statement is empty!")
	}

	doc.Version = cmp.Or(doc.Version, "2008-10-17")
	ids := map[string]bool{}
	for i := range doc.Statement {
		st := &doc.Statement[i]
		switch { // "allow" is Allow
		case strings.EqualFold(st.Effect, "Allow"):
			st.Effect = "Allow"
		case strings.EqualFold(st.Effect, "Deny"):
			st.Effect = "Deny"
		}

		for _, m := range []struct {
			name   string
			absent bool
		}{
			{"Effect", st.Effect == ""},
			{"Principal", st.Principal == nil && st.NotPrincipal == nil},
			{"Action", st.Action == nil && st.NotAction == nil},
			{"Resource", st.Resource == nil && st.NotResource == nil},
		} {
			if m.absent {
				return bad("Invalid policy document: Missing required field %s", m.name)
			}
		}

		if st.Sid != "" && ids[st.Sid] {
			return bad("Invalid policy document: The Statement Ids in the policy are not unique")
		}
		ids[st.Sid] = true
	}

	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(&doc); err != nil {
		return bad("Invalid policy document: This policy contains invalid Json")
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// policyTarget reads the ARN of a resource that has a policy: a table or a stream.
func (s *Service) policyTarget(arn string) (TableRef, error) {
	if !strings.HasPrefix(arn, wire.ARNPrefix) {
		return TableRef{}, wire.Validation(wrongParameter + "ARNs must start with 'arn:': " + arn)
	}
	ref, err := ParseARN(arn)
	switch {
	case err != nil:
		return ref, wire.Validation(wrongParameter + "Provided Arn is not a DynamoDB resource arn: " + arn)
	case ref.Account != cmp.Or(s.arns.Account, DefaultAccount):
		return ref, wire.Validation(msgOwner)
	case !s.arns.Local(ref) || !strings.HasPrefix(arn, "arn:aws:"):
		return ref, wire.Validation(wrongParameter + "Invalid resource Arn: " + arn)
	case ref.Index != "":
		return ref, wire.Validation(wrongParameter +
			"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " + arn)
	}
	return ref, nil
}

// policyOf returns where a definition keeps the policy of a table or of its
// stream.
func policyOf(def *table.Definition, ref TableRef) (**table.Policy, error) {
	switch {
	case ref.Stream == "":
		return &def.Policy, nil
	case def.Stream == nil || def.Stream.Label != ref.Stream:
		return nil, wire.NewError(
			"ResourceNotFoundException",
			"Requested resource not found: Stream: "+ref.Stream+" not found for Table: "+ref.Name,
		)
	}
	return &def.Stream.Policy, nil
}

func noPolicy(text string) error {
	return wire.NewError(
		"PolicyNotFoundException", "Resource-based policy not found for the provided ResourceArn: "+text,
	)
}

// noRevision is the ExpectedRevisionId of a client that expects no policy.
// Source: API_PutResourcePolicy.
const noRevision = "NO_POLICY"

// checkRevision compares the revision that a client expects with the policy's.
func checkRevision(p *table.Policy, expected *string, name string) error {
	exists := p != nil && p.Text != ""
	switch {
	case expected == nil:
	case *expected == noRevision && exists:
		return noPolicy(fmt.Sprintf("Requested policy update expecting none to be present for table %s, but a policy "+
			"exists with revision id %d.", name, p.Revision))
	case *expected == noRevision:
	case p == nil:
		return noPolicy(fmt.Sprintf("Requested update for policy with revision id %s, but table "+
			"%s has no associated policy.", *expected, name))
	case *expected != strconv.FormatInt(p.Revision, 10) || !exists:
		return noPolicy(fmt.Sprintf("Requested update for policy with revision id %s, but the policy associated to "+
			"target table %s has revision id %d.", *expected, name, p.Revision))
	}
	return nil
}

// nextRevision returns the revision of a change of p.
func (s *Service) nextRevision(p *table.Policy) int64 {
	now := s.now().UnixMilli()
	if p != nil {
		now = max(now, p.Revision+1)
	}
	return now
}

// changePolicy lets change replace the policy of a resource.
func (s *Service) changePolicy(
	ctx context.Context, arn, expected *string, change func(old *table.Policy) *table.Policy,
) error {
	ref, err := s.policyTarget(value(arn))
	if err != nil {
		return err
	}
	_, err = s.db.Alter(ctx, ref.Name, func(def *table.Definition) error {
		p, err := policyOf(def, ref)
		if err != nil {
			return err
		}
		if err := checkRevision(*p, expected, ref.Name); err != nil {
			return err
		}
		*p = change(*p)
		return nil
	})
	return err
}

// putResourcePolicy sets the policy of a table or a stream. It is kept and not
// enforced. An equal policy changes nothing.
func (s *Service) putResourcePolicy(
	ctx context.Context, in *wire.PutResourcePolicyInput,
) (*wire.PutResourcePolicyOutput, error) {
	text, err := canonicalPolicy(value(in.Policy))
	if err != nil {
		return nil, err
	}
	var revision int64
	err = s.changePolicy(ctx, in.ResourceArn, in.ExpectedRevisionId, func(old *table.Policy) *table.Policy {
		if old == nil || old.Text != text {
			old = &table.Policy{Text: text, Revision: s.nextRevision(old)}
		}
		revision = old.Revision
		return old
	})
	if err != nil {
		return nil, err
	}
	return &wire.PutResourcePolicyOutput{RevisionId: new(strconv.FormatInt(revision, 10))}, nil
}

// getResourcePolicy returns the policy of a table or a stream.
func (s *Service) getResourcePolicy(
	ctx context.Context, in *wire.GetResourcePolicyInput,
) (*wire.GetResourcePolicyOutput, error) {
	arn := value(in.ResourceArn)
	ref, err := s.policyTarget(arn)
	if err != nil {
		return nil, err
	}
	t, err := s.described(ctx, &ref.Name)
	if err != nil {
		return nil, err
	}
	p, err := policyOf(t.Definition(), ref)
	if err != nil {
		return nil, err
	}
	if *p == nil || (*p).Text == "" {
		return nil, noPolicy(arn)
	}
	return &wire.GetResourcePolicyOutput{
		Policy: new((*p).Text), RevisionId: new(strconv.FormatInt((*p).Revision, 10)),
	}, nil
}

// deleteResourcePolicy removes the policy of a table or a stream. Without a
// policy it does nothing; after one was deleted it returns the revision of that.
func (s *Service) deleteResourcePolicy(
	ctx context.Context, in *wire.DeleteResourcePolicyInput,
) (*wire.DeleteResourcePolicyOutput, error) {
	out := new(wire.DeleteResourcePolicyOutput)
	err := s.changePolicy(ctx, in.ResourceArn, in.ExpectedRevisionId, func(old *table.Policy) *table.Policy {
		if old == nil {
			return nil
		}
		out.RevisionId = new(strconv.FormatInt(old.Revision, 10))
		if old.Text == "" {
			return old
		}
		return &table.Policy{Revision: s.nextRevision(old)}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
