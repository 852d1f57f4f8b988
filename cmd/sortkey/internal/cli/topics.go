package cli

import "github.com/spf13/cobra"

// topics returns the topics test and measure of sortkey help. Each fits on one screen. There is no topic design,
// because sortkey help design prints the help of the command design.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "test",
			Short: "Where to begin if you test a program",
			Long: `A program that uses an AWS SDK needs only another address; any region and credentials will do:

  sortkey serve
  export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000

Tables and items:

  sortkey serve --load template.yaml --load seeds/      of a template, and requests or exports
  sortkey create Orders 'customer / placed:N'           with a key; sortkey import loads files
  sortkey query Orders c1 '> 2026' --filter 'total > 10'
  sortkey console                                       in the browser

Tests that run at the same time, each with a database of its own:

  sortkey serve --isolate --load template.yaml          by access key; --control resets and forks them

Why a request fails, or reads too much:

  sortkey explain request.json --endpoint http://127.0.0.1:8000
  sortkey serve --console                               shows the requests of the program

Tests in Go need no server: package sortkeytest. Other languages: docs/testing-languages.md.`,
		},
		{
			Use:   "measure",
			Short: "Where to begin if you measure what requests cost",
			Long: `One request, with the rows that it reads and returns, and its units:

  sortkey query Orders c1 --trace
  sortkey explain Orders c1 '> 2026' --filter 'total > 10'

All requests of a program, by shape, with their units and times:

  sortkey serve --console                               and a recording to keep
  sortkey serve --verbose --log json                    a line for each
  sortkey serve --metrics 127.0.0.1:9100                for Prometheus

A design before there is a program, in units and money, and what a change of it costs:

  sortkey design check model.yaml
  sortkey design diff old.yaml new.yaml

Sortkey itself, by layer and by the size of a table:

  sortkey bench query-10 page --engine memory,disk
  sortkey bench query-10 --items 1000000`,
		},
	}
}
