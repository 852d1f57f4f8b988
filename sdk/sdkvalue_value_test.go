package sdk_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

func TestRoundTrip(t *testing.T) {
	const text = `{"b":{"B":"AAH/"},"bs":{"BS":["AA==","AQ=="]},"l":{"L":[{"BOOL":false},{"NULL":true}]},` +
		`"m":{"M":{"x":{"S":""}}},"n":{"N":"-1.5"},"ns":{"NS":["1","2"]},"s":{"S":"a"},"ss":{"SS":["x","y"]}}`
	it, err := attr.ParseItem([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	back, err := sdkvalue.Item(sdkvalue.Of(it))
	if err != nil || string(back.AppendJSON(nil)) != text {
		t.Errorf("there and back: %s, %v, want %s", back.AppendJSON(nil), err, text)
	}
	const plain = `{"b":"AAH/","bs":["AA==","AQ=="],"l":[false,null],"m":{"x":""},"n":-1.5,` +
		`"ns":[1,2],"s":"a","ss":["x","y"]}`
	if got := string(item.AppendPlain(nil, it)); got != plain {
		t.Errorf("plain JSON is %s, want %s", got, plain)
	}
}

func TestRefused(t *testing.T) {
	for name, v := range map[string]types.AttributeValue{
		"nothing": nil, "not a number": &types.AttributeValueMemberN{Value: "one"},
	} {
		if _, err := sdkvalue.Item(map[string]types.AttributeValue{"x": v}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
