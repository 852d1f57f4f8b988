package sortkeytest

import (
	"encoding/json"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// An eventRecord is a stream record in the form that Lambda events have.
type eventRecord struct {
	json    []byte
	number  string
	created time.Time
}

// eventOf converts a record to the form that Lambda events have. That form differs from the form of GetRecords in two
// ways: it has the ARN of the stream, and the fields of the identity have other names. Source:
// docs.aws.amazon.com/lambda/latest/dg/with-ddb.html, and
// amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html.
func eventOf(r wire.Record, arn string) eventRecord {
	type identity struct {
		Principal *string `json:"principalId"`
		Type      *string `json:"type"`
	}
	type change struct {
		Created  int64           `json:"ApproximateCreationDateTime"`
		Keys     json.RawMessage `json:",omitempty"`
		NewImage json.RawMessage `json:",omitempty"`
		OldImage json.RawMessage `json:",omitempty"`
		Number   *string         `json:"SequenceNumber"`
		Size     *int64          `json:"SizeBytes"`
		View     *string         `json:"StreamViewType"`
	}
	item := func(it attr.Item) json.RawMessage {
		if it == nil {
			return nil
		}
		return it.AppendJSON(nil)
	}

	var user *identity
	if u := r.UserIdentity; u != nil {
		user = &identity{u.PrincipalId, u.Type}
	}
	d, at := r.Dynamodb, created(*r.Dynamodb)
	encoded, err := text.JSON(struct {
		wire.Record
		Change   change    `json:"dynamodb"`
		Identity *identity `json:"userIdentity,omitempty"`
		ARN      string    `json:"eventSourceARN"`
	}{
		r, change{
			at.Unix(), item(d.Keys), item(d.NewImage), item(d.OldImage),
			d.SequenceNumber, d.SizeBytes, d.StreamViewType,
		}, user, arn,
	})
	if err != nil {
		panic(err) // cannot happen, as strings, numbers and JSON can always be encoded
	}
	return eventRecord{encoded, *d.SequenceNumber, at}
}

// matches reports whether the record matches a filter.
func (r eventRecord) matches(f filter) bool {
	v, err := decodeJSON(r.json)
	if err != nil {
		panic(err) // eventOf has encoded it
	}
	return f.matches(v)
}
