// Package wire decodes the JSON of requests and values into types of the AWS SDK.
package wire
