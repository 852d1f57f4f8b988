// Package wire goes between JSON as people keep it in files and the typed
// requests and values of the AWS SDK.
//
// [Decode] fills a request of the SDK from the JSON of the operation.
package wire
