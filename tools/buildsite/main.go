// Command buildsite writes the documents of a checkout as a site of static files, and fails if a link of it leads
// nowhere:
//
//	go run ./buildsite -root .. -to /tmp/site
package main

import (
	"flag"
	"log"

	"github.com/sortkey/sortkey/tools/site"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("buildsite: ")
	var o site.Options
	flag.StringVar(&o.Root, "root", ".", "root of the checkout")
	flag.StringVar(&o.Folder, "to", "", "folder of the site, which may hold a playground already")
	flag.StringVar(&o.Ref, "ref", "main", "branch or tag that links to source files name")
	flag.Parse()
	if o.Folder == "" {
		log.Fatal("-to is required")
	}

	if err := site.Build(o); err != nil {
		log.Fatal(err)
	}
	faults, err := site.Check(o.Folder)
	if err != nil {
		log.Fatal(err)
	}
	for _, fault := range faults {
		log.Print(fault)
	}
	if len(faults) > 0 {
		log.Fatalf("the site has %d faults: mend the documents that they name", len(faults))
	}
}
