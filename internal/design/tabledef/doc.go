// Package tabledef reads definitions of tables: the JSON of CreateTable requests
// and DescribeTable responses, CloudFormation templates, services of the Serverless
// Framework and Terraform files. All of them become a [Schema], whose [Schema.CreateTable] is the request that makes
// the table.
package tabledef
