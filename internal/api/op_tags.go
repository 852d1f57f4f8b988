package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
)

// maxTags is the maximum number of tags of a table. Source: DG/Tagging.html.
const maxTags = 50

// Source of the texts of this file: ack-api-quirks, DDB-TABLE-442, 2026-10-09.
const msgManyTags = "Number of Tags exceed the current limit for the provided ResourceArn"

// maxTagBytes is the maximum size of all tags of a table: the bytes of keys and values in UTF-8.
const maxTagBytes = 10240

// checkTagKey returns an error if key is not a valid tag key.
func checkTagKey(key string) error {
	if strings.HasPrefix(strings.ToLower(key), "aws:") {
		return wire.Validation("Tag Key cannot be prefixed with aws:, Key: " + key)
	}
	if !tagText(key) {
		return wire.Validation("The Tag Key provided is invalid, Key: " + key)
	}
	return nil
}

func tagsOf(tags []wire.Tag) (map[string]string, error) {
	if len(tags) > maxTags {
		return nil, wire.Validation(msgManyTags)
	}
	if len(tags) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		key := value(t.Key)
		if err := checkTagKey(key); err != nil {
			return nil, err
		}
		if !tagText(value(t.Value)) {
			return nil, wire.Validation("The Tag Value provided is invalid, Value: " + value(t.Value))
		}
		if _, ok := out[key]; ok {
			return nil, wire.Validation("Duplicate Tag Keys provided as input: Duplicate Tag Key found " + key)
		}
		out[key] = value(t.Value)
	}

	return out, checkTagSet(out)
}

// checkTagSet refuses a set of tags that exceeds [maxTags] or [maxTagBytes].
func checkTagSet(tags map[string]string) error {
	size := 0
	for key, text := range tags {
		size += len(key) + len(text)
	}
	switch {
	case len(tags) > maxTags:
		return wire.Validation(msgManyTags)
	case size > maxTagBytes:
		return wire.Validation(fmt.Sprintf(
			"Tag set size %d bytes is above max size limit of %d bytes", size, maxTagBytes))
	}
	return nil
}

// tagText reports whether all characters of s are allowed in tags. Source: DG/Tagging.html, and alternator's
// test_tag.py for letters of any script.
func tagText(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && !unicode.IsSpace(r) &&
			!strings.ContainsRune("+-=._:/@", r) {
			return false
		}
	}
	return true
}

// Empty is the output of operations whose response has an empty body.
type Empty struct{}

// tagResource sets tags of a table or a stream.
func (s *Service) tagResource(ctx context.Context, in *wire.TagResourceInput) (out Empty, err error) {
	r, err := s.resource(in.ResourceArn, false)
	if err != nil {
		return out, err
	}
	if len(in.Tags) == 0 {
		return out, wire.OpTagResource.Invalid("Atleast one Tag needs to be provided as Input.")
	}
	add, err := tagsOf(in.Tags)
	if err != nil {
		return out, err
	}
	return out, s.retag(ctx, r, func(tags map[string]string) error {
		maps.Copy(tags, add)
		return checkTagSet(tags)
	})
}

// untagResource removes tags of a table or a stream.
func (s *Service) untagResource(ctx context.Context, in *wire.UntagResourceInput) (out Empty, err error) {
	r, err := s.resource(in.ResourceArn, false)
	if err != nil {
		return out, err
	}
	if len(in.TagKeys) == 0 {
		return out, wire.OpUntagResource.Invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	if len(in.TagKeys) > maxTags {
		return out, wire.Validation(msgManyTags)
	}
	for _, key := range in.TagKeys {
		if err := checkTagKey(key); err != nil {
			return out, err
		}
	}
	return out, s.retag(ctx, r, func(tags map[string]string) error {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
		return nil
	})
}

// retag changes the tags of a resource: it calls change with a copy of them.
func (s *Service) retag(ctx context.Context, r *resource, change func(map[string]string) error) error {
	if err := s.db.Refresh(ctx); err != nil {
		return err
	}
	if _, err := s.db.Describe(ctx, r.Name); err != nil {
		return r.missing
	}
	return s.relabel(ctx, r, func(l *table.Labels) error {
		if l.Tags = maps.Clone(l.Tags); l.Tags == nil {
			l.Tags = map[string]string{}
		}
		return change(l.Tags)
	})
}

// A resource is a table or a stream with a policy and tags.
type resource struct {
	TableRef
	missing error // the error of an operation if the stream, or for tags the table, does not exist
}

// labels returns the policy and the tags of the resource in the definition of its table.
func (r *resource) labels(def *table.Definition) (*table.Labels, error) {
	switch {
	case r.Stream == "":
		return &def.Labels, nil
	case def.Stream == nil || def.Stream.Label != r.Stream:
		return nil, r.missing
	}
	return &def.Stream.Labels, nil
}

// relabel changes the policy or the tags of a resource.
func (s *Service) relabel(ctx context.Context, r *resource, change func(*table.Labels) error) error {
	_, err := s.db.Alter(ctx, r.Name, func(def *table.Definition) error {
		l, err := r.labels(def)
		if err == nil {
			err = change(l)
		}
		return err
	})
	return err
}

// resource parses the ARN of a table or a stream. policy is true for an operation on policies, and false for an
// operation on tags. resource does not check whether the table exists. Source of the order of the checks: dynalite,
// validations/tagResource.js. Source of the texts for tags: ack-api-quirks, DDB-TABLE-136, 104 and 442, 2026-10-08
// and 09.
func (s *Service) resource(of *string, policy bool) (*resource, error) {
	arn := value(of)
	if !strings.HasPrefix(arn, wire.ARNPrefix) {
		return nil, wrongValue("ARNs must start with 'arn:': " + arn)
	}
	ref, err := ParseARN(arn)
	missing := "ResourceArn: " + arn + " not found" // ack-api-quirks, DDB-TABLE-104
	owner, foreign := wire.AccessDenied("Access is denied"), noARN(arn)
	if policy {
		missing = "Stream: " + ref.Stream + " not found for Table: " + ref.Name
		owner, foreign = wire.Validation(msgOwner), wrongValue("Invalid resource Arn: "+arn)
	}
	switch {
	case err != nil && (policy || !strings.Contains(arn, ":dynamodb:") ||
		strings.Contains(arn, "/backup/")): // DDB-BACKUP-013
		return nil, wrongValue("Provided Arn is not a DynamoDB resource arn: " + arn)
	case err != nil:
		return nil, err
	case ref.Account != s.opts.Account:
		return nil, owner
	case !s.arns.Local(ref) || policy && !strings.HasPrefix(arn, "arn:aws:"):
		return nil, foreign
	case ref.Index != "":
		return nil, wrongValue(
			"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " + arn)
	}
	return &resource{ref, wire.NewError(codeNotFound, "Requested resource not found: "+missing)}, nil
}

// listTagsOfResource lists all tags of a table or a stream in the order of their keys. Like the service, it returns
// all of them on one page (alternator, test_tag.py) and ignores NextToken (ack-api-quirks, DDB-TABLE-073).
func (s *Service) listTagsOfResource(
	ctx context.Context, in *wire.ListTagsOfResourceInput,
) (*wire.ListTagsOfResourceOutput, error) {
	r, err := s.resource(in.ResourceArn, false)
	if err != nil {
		return nil, err
	}
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	t, err := s.db.Describe(ctx, r.Name)
	if err != nil || t.Definition().Status(s.now()) == table.StatusCreating { // ack-api-quirks, DDB-TABLE-101
		return nil, r.missing
	}
	l, err := r.labels(t.Definition())
	if err != nil {
		return nil, err
	}
	out := &wire.ListTagsOfResourceOutput{Tags: []wire.Tag{}}
	for _, key := range slices.Sorted(maps.Keys(l.Tags)) {
		out.Tags = append(out.Tags, wire.Tag{Key: new(key), Value: new(l.Tags[key])})
	}
	return out, nil
}
