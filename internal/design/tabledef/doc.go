// Package tabledef reads definitions of tables: the JSON of CreateTable requests and DescribeTable responses,
// CloudFormation templates, services of the Serverless Framework, and Terraform files. It converts all of them to a
// [Schema], and [Schema.CreateTable] returns the request that creates the table.
package tabledef
