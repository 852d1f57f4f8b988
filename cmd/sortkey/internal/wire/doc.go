// Package wire goes between JSON as people keep it in files and the typed
// requests and values of the AWS SDK.
//
// [Decode] fills a request of the SDK from the JSON of the operation, [Item]
// and [Value] turn the SDK's values into those of package attr, and
// [AppendPlain] writes them as plain JSON.
package wire
