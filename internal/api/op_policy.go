package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Source of the texts in this file: "quirks", findings DDB-TABLE-205 to 214 and 351 to 356; moto,
// test_dynamodb_resource_policy.py. In comments of this package, "quirks" means captures of the service in October
// 2026 (ack-api-quirks, services/dynamodb).

// maxPolicy is the maximum size of a resource policy in bytes.
const maxPolicy = 20480

// wrongParameter is the prefix of error messages about parameters.
const wrongParameter = "One or more parameter values were invalid: "

// wrongValue returns the error for an invalid parameter. text says what is wrong with the parameter.
func wrongValue(text string) *wire.Error { return wire.Validation(wrongParameter + text) }

const msgOwner = "This action is only supported by accounts that match the resource owner’s account."

// A policyDocument is a resource policy. Its fields are in the order in which the service returns them.
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

// oneOrMore is a list of strings in JSON. If the list has only one string, its JSON is that string.
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

// canonicalPolicy checks a resource policy of a table or a stream. It returns the policy in the form in which the
// service returns policies.
func (s *Service) canonicalPolicy(policy string, of TableRef) (*table.Policy, error) {
	bad := func(format string, args ...any) (*table.Policy, error) {
		return nil, wrongValue(fmt.Sprintf(format, args...))
	}
	if len(policy) > maxPolicy {
		return bad("Maximum policy size of %d bytes exceeded", maxPolicy)
	}
	var doc policyDocument
	if strings.TrimSpace(policy) == "null" {
		return bad("Invalid policy document: This text appears not to be a policy")
	}
	if err := json.Unmarshal([]byte(policy), &doc); err != nil {
		return bad("Invalid policy document: This policy contains invalid Json")
	}
	if doc.Statement == nil {
		return bad("Invalid policy document: Syntax error at position %s", position(policy, len(policy)))
	}
	if len(doc.Statement) == 0 {
		return bad("Invalid policy document: Could not parse the policy: Statement is empty!")
	}

	p := &table.Policy{Unversioned: doc.Version == ""}
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

		missing := ""
		switch {
		case st.Effect == "":
			missing = "Effect"
		case st.Principal == nil && st.NotPrincipal == nil:
			missing = "Principal"
		case st.Action == nil && st.NotAction == nil:
			missing = "Action"
		case st.Resource == nil && st.NotResource == nil:
			missing = "Resource"
		}
		if missing != "" {
			return bad("Invalid policy document: Missing required field %s", missing)
		}

		if st.Sid != "" && ids[st.Sid] {
			return bad("Invalid policy document: The Statement Ids in the policy are not unique")
		}
		ids[st.Sid] = true

		if bare := (*string)(nil); json.Unmarshal(st.Principal, &bare) == nil && bare != nil && *bare != "*" {
			at := max(strings.Index(policy, string(st.Principal)), 0)
			return bad("Invalid policy document: Syntax error at position %s", position(policy, at))
		}
		if err := checkStatement(st, of); err != nil {
			return nil, err
		}
		st.Principal, st.Condition = s.principal(st.Principal), single(st.Condition)
	}

	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(&doc); err != nil {
		return bad("Invalid policy document: This policy contains invalid Json")
	}
	p.Text = strings.TrimSuffix(out.String(), "\n")
	return p, nil
}

// position returns the line and the column of the byte at an offset, as "(line,column)", both from 1.
func position(text string, at int) string {
	before := text[:at]
	return fmt.Sprintf("(%d,%d)", strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'))
}

// streamActions are the actions that only the policy of a stream may name.
var streamActions = []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}

// checkStatement returns an error for a statement that gives access to everyone. It also returns an error for actions
// and resources of the wrong kind: those of streams in the policy of a table, and vice versa. Source: quirks,
// DDB-TABLE-211, 212, 352 and 356.
func checkStatement(st *statement, of TableRef) error {
	if st.Effect == "Allow" && st.Condition == nil && everyone(st.Principal) {
		return wire.Validation("Resource-based policy grants unbounded access in one or more elements. " +
			"Please revise the policy to ensure least-privilege form of access")
	}
	var wrong []string
	for _, action := range slices.Backward(st.Action) {
		if of.Stream == "" && slices.Contains(streamActions, action) {
			wrong = append(wrong, strconv.Quote(action))
		}
	}
	if wrong != nil {
		return wrongValue("Invalid policy document: The following action names are invalid: " +
			strings.Join(wrong, ", "))
	}
	for _, arn := range st.Resource {
		ref, err := ParseARN(arn)
		if err == nil && (ref.Stream == "") != (of.Stream == "") {
			return wire.Validation(fmt.Sprintf(
				"%sInvalid policy document: The relative-id %q is invalid for ARN %q",
				wrongParameter, strings.SplitN(arn, ":", 6)[5], arn))
		}
	}
	return nil
}

// principals returns the members of a Principal element. An element that is a string, such as "*", counts as the
// member AWS.
func principals(element json.RawMessage) map[string]oneOrMore {
	var all string
	if json.Unmarshal(element, &all) == nil {
		return map[string]oneOrMore{"AWS": {all}}
	}
	var members map[string]oneOrMore
	// if decoding fails, members is nil, and the policy keeps the element as it is
	_ = json.Unmarshal(element, &members)
	return members
}

func everyone(element json.RawMessage) bool { return slices.Contains(principals(element)["AWS"], "*") }

// principal returns a Principal element as the service returns it: the ARN of an account's root replaces the account,
// and duplicates are removed. Source: quirks, DDB-TABLE-352.
func (s *Service) principal(element json.RawMessage) json.RawMessage {
	members := principals(element)
	if len(members) == 0 || !bytes.HasPrefix(element, []byte("{")) {
		return element
	}
	var list oneOrMore
	for _, p := range members["AWS"] {
		if len(p) == 12 && strings.Trim(p, "0123456789") == "" {
			p = "arn:aws:iam::" + p + ":root"
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	if list != nil {
		members["AWS"] = list
	}
	out, err := text.JSON(members)
	if err != nil {
		return element
	}
	return out
}

// single returns a Condition element as the service returns it: a list with one value becomes that value. Source:
// quirks, DDB-TABLE-353.
func single(element json.RawMessage) json.RawMessage {
	var operators map[string]map[string]oneOrMore
	if element == nil || json.Unmarshal(element, &operators) != nil {
		return element
	}
	out, err := text.JSON(operators)
	if err != nil {
		return element
	}
	return out
}

// locksOut reports whether a policy denies everyone, or this account, the right to change the policy: quirks,
// DDB-TABLE-210.
func (s *Service) locksOut(policy string) bool {
	var doc policyDocument
	if json.Unmarshal([]byte(policy), &doc) != nil {
		return false
	}
	root := "arn:aws:iam::" + s.opts.Account + ":root"
	return slices.ContainsFunc(doc.Statement, func(st statement) bool {
		denied := slices.ContainsFunc(st.Action, func(a string) bool {
			return a == "*" || strings.EqualFold(a, "dynamodb:*") || strings.EqualFold(a, "dynamodb:PutResourcePolicy")
		})
		of := principals(st.Principal)["AWS"]
		return st.Effect == "Deny" && denied && st.Condition == nil &&
			(slices.Contains(of, "*") || slices.Contains(of, root))
	})
}

func noPolicy(text string) error {
	return wire.NewError(
		"PolicyNotFoundException", "Resource-based policy not found for the provided ResourceArn: "+text,
	)
}

// noRevision is the ExpectedRevisionId with which a client expects that the resource has no policy. Source:
// API_PutResourcePolicy.
const noRevision = "NO_POLICY"

// checkRevision returns an error if the client expects a revision and the policy p has another. name is the name of
// the table, for the error.
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

// nextRevision returns the revision of the policy that replaces p. Revisions are times in milliseconds, and always
// increase.
func (s *Service) nextRevision(p *table.Policy) int64 {
	now := s.now().UnixMilli()
	if p != nil {
		now = max(now, p.Revision+1)
	}
	return now
}

// changePolicy replaces the policy of a resource by the policy that change returns. It returns an error if the client
// expects another revision of the old policy.
func (s *Service) changePolicy(
	ctx context.Context, r *resource, expected *string, change func(old *table.Policy) *table.Policy,
) error {
	if _, err := s.seen(ctx, &r.Name); err != nil {
		return err
	}
	return s.relabel(ctx, r, func(l *table.Labels) error {
		if err := checkRevision(l.Policy, expected, r.Name); err != nil {
			return err
		}
		l.Policy = change(l.Policy)
		return nil
	})
}

// putResourcePolicy sets the policy of a table or a stream. Sortkey stores policies but does not enforce them.
// Setting an equal policy changes nothing.
func (s *Service) putResourcePolicy(
	ctx context.Context, in *wire.PutResourcePolicyInput,
) (*wire.PutResourcePolicyOutput, error) {
	r, err := s.resource(in.ResourceArn, true)
	if err != nil {
		return nil, err
	}
	next, err := s.canonicalPolicy(value(in.Policy), r.TableRef)
	if err != nil {
		return nil, err
	}
	if !value(in.ConfirmRemoveSelfResourceAccess) && s.locksOut(next.Text) {
		return nil, wire.AccessDenied(
			"The new resource policy will not allow you to update the resource policy in the future.")
	}
	var revision int64
	err = s.changePolicy(ctx, r, in.ExpectedRevisionId, func(old *table.Policy) *table.Policy {
		if old == nil || old.Text != next.Text || old.Unversioned != next.Unversioned {
			next.Revision = s.nextRevision(old)
			old = next
		}
		revision = old.Revision
		return old
	})
	return &wire.PutResourcePolicyOutput{RevisionId: new(strconv.FormatInt(revision, 10))}, err
}

// getResourcePolicy returns the policy of a table or a stream.
func (s *Service) getResourcePolicy(
	ctx context.Context, in *wire.GetResourcePolicyInput,
) (*wire.GetResourcePolicyOutput, error) {
	r, err := s.resource(in.ResourceArn, true)
	if err != nil {
		return nil, err
	}
	t, err := s.seen(ctx, &r.Name)
	if err != nil {
		return nil, err
	}
	l, err := r.labels(t.Definition())
	if err != nil {
		return nil, err
	}
	p := l.Policy
	if p == nil || p.Text == "" {
		return nil, noPolicy(*in.ResourceArn)
	}
	return &wire.GetResourcePolicyOutput{Policy: &p.Text, RevisionId: new(strconv.FormatInt(p.Revision, 10))}, nil
}

// deleteResourcePolicy removes the policy of a table or a stream. If the resource never had a policy, it does
// nothing. If the policy is already deleted, it returns the revision of the deletion.
func (s *Service) deleteResourcePolicy(
	ctx context.Context, in *wire.DeleteResourcePolicyInput,
) (*wire.DeleteResourcePolicyOutput, error) {
	r, err := s.resource(in.ResourceArn, true)
	if err != nil {
		return nil, err
	}
	out := new(wire.DeleteResourcePolicyOutput)
	return out, s.changePolicy(ctx, r, in.ExpectedRevisionId, func(old *table.Policy) *table.Policy {
		if old == nil {
			return nil
		}
		out.RevisionId = new(strconv.FormatInt(old.Revision, 10))
		if old.Text == "" {
			return old
		}
		return &table.Policy{Revision: s.nextRevision(old)}
	})
}
