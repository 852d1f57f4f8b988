// Package examples holds seven small systems, each one table design with the
// questions it was made for: tables, items, and access patterns with the
// answers that are right.
//
// [Names] lists them, [Load] reads one, [All] reads them all. [Parse] reads a
// model file of the same form from elsewhere. The form is that of [System],
// written as JSON:
//
//	{
//	  "name": "file-tree",
//	  "about": "One sentence or two.",
//	  "tables": [{"TableName": "Drive", "KeySchema": [...], ...}],
//	  "items": {"Drive": [{"PK": {"S": "DRIVE#a91"}, ...}]},
//	  "patterns": [{
//	    "name": "everything under root/photos/",
//	    "query": {"TableName": "Drive", "KeyConditionExpression": "...", ...},
//	    "keys": [["DRIVE#a91", "root/photos/"]]
//	  }]
//	}
//
// Tables and the requests of patterns are the JSON of the service's own
// operations, so they can be copied from and to any tool that speaks it.
package examples
