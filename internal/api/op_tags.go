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
	ref, err := s.resource(value(in.ResourceArn), false)
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
	return out, s.retag(ctx, ref, value(in.ResourceArn), func(tags map[string]string) error {
		maps.Copy(tags, add)
		return checkTagSet(tags)
	})
}

// untagResource removes tags of a table or a stream.
func (s *Service) untagResource(ctx context.Context, in *wire.UntagResourceInput) (out Empty, err error) {
	ref, err := s.resource(value(in.ResourceArn), false)
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
	return out, s.retag(ctx, ref, value(in.ResourceArn), func(tags map[string]string) error {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
		return nil
	})
}

// tagsIn returns a pointer to the field of def that holds the tags of the table or of its stream. arn is the ARN that
// the client sent, for the error.
func tagsIn(def *table.Definition, ref TableRef, arn string) (*map[string]string, error) {
	switch {
	case ref.Stream == "":
		return &def.Tags, nil
	case def.Stream == nil || def.Stream.Label != ref.Stream:
		return nil, noResource(arn)
	}
	return &def.Stream.Tags, nil
}

// retag changes the tags of a table or a stream: it calls change with them.
func (s *Service) retag(ctx context.Context, ref TableRef, arn string, change func(map[string]string) error) error {
	if err := s.db.Refresh(ctx); err != nil {
		return err
	}
	if _, err := s.db.Describe(ctx, ref.Name); err != nil {
		return noResource(arn)
	}
	_, err := s.db.Alter(ctx, ref.Name, func(def *table.Definition) error {
		tags, err := tagsIn(def, ref, arn)
		if err != nil {
			return err
		}
		if *tags = maps.Clone(*tags); *tags == nil {
			*tags = map[string]string{}
		}
		return change(*tags)
	})
	return err
}

// noResource returns the error for an ARN that refers to nothing. Source: ack-api-quirks, DDB-TABLE-104.
func noResource(arn string) error {
	return wire.NewError("ResourceNotFoundException", "Requested resource not found: ResourceArn: "+arn+" not found")
}

// resource parses the ARN of a table or a stream. policy is true for an operation on policies, and false for an
// operation on tags. resource does not check whether the table exists. Source of the order of the checks: dynalite,
// validations/tagResource.js. Source of the texts for tags: ack-api-quirks, DDB-TABLE-136, 104 and 442, 2026-10-08
// and 09.
func (s *Service) resource(arn string, policy bool) (TableRef, error) {
	if !strings.HasPrefix(arn, wire.ARNPrefix) {
		return TableRef{}, wrongValue("ARNs must start with 'arn:': " + arn)
	}
	owner, foreign := wire.AccessDenied("Access is denied"), noARN(arn)
	if policy {
		owner, foreign = wire.Validation(msgOwner), wrongValue("Invalid resource Arn: "+arn)
	}
	ref, err := ParseARN(arn)
	switch {
	case err != nil && (policy || !strings.Contains(arn, ":dynamodb:") ||
		strings.Contains(arn, "/backup/")): // DDB-BACKUP-013
		return ref, wrongValue("Provided Arn is not a DynamoDB resource arn: " + arn)
	case err != nil:
		return ref, err
	case ref.Account != s.account():
		return ref, owner
	case !s.arns.Local(ref) || policy && !strings.HasPrefix(arn, "arn:aws:"):
		return ref, foreign
	case ref.Index != "":
		return ref, wrongValue(
			"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " + arn)
	}
	return ref, nil
}

// listTagsOfResource lists all tags of a table or a stream in the order of their keys. Like the service, it returns
// all of them on one page (alternator, test_tag.py) and ignores NextToken (ack-api-quirks, DDB-TABLE-073).
func (s *Service) listTagsOfResource(
	ctx context.Context, in *wire.ListTagsOfResourceInput,
) (*wire.ListTagsOfResourceOutput, error) {
	ref, err := s.resource(value(in.ResourceArn), false)
	if err != nil {
		return nil, err
	}
	if err := s.db.Refresh(ctx); err != nil {
		return nil, err
	}
	t, err := s.db.Describe(ctx, ref.Name)
	if err != nil || t.Definition().Status(s.now()) == table.StatusCreating { // ack-api-quirks, DDB-TABLE-101
		return nil, noResource(value(in.ResourceArn))
	}
	of, err := tagsIn(t.Definition(), ref, value(in.ResourceArn))
	if err != nil {
		return nil, err
	}
	tags := *of
	out := &wire.ListTagsOfResourceOutput{Tags: []wire.Tag{}}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out.Tags = append(out.Tags, wire.Tag{Key: new(key), Value: new(tags[key])})
	}
	return out, nil
}
