package export

func workbench(d *design) ([]byte, error) { return nil, nil }
func oneTable(d *design) ([]byte, error)  { return nil, nil }
func electroDB(d *design) ([]byte, error) { return nil, nil }
