package main

// Requests in the form that came before expressions.

// legacyOps are the comparison operators with the number of values they take.
var legacyOps = []struct {
	name   string
	values int
}{
	{"EQ", 1}, {"EQ", 1}, {"NE", 1}, {"LE", 1}, {"LT", 1}, {"GE", 1}, {"GT", 1}, {"NOT_NULL", 0}, {"NULL", 0},
	{"CONTAINS", 1}, {"NOT_CONTAINS", 1}, {"BEGINS_WITH", 1}, {"IN", 2}, {"BETWEEN", 2},
}

// comparison returns an operator and its values, now and then one too many.
func (g *generator) comparison() object {
	op := pick(g.r, legacyOps)
	n := op.values
	if chance(g.r, 3) {
		n++
	}
	kind := g.kinds()
	var values list
	for range n {
		if op.name == "EQ" || op.name == "NE" {
			values = append(values, anyValue(g.r, 1))
		} else {
			values = append(values, scalar(g.r, kind))
		}
	}
	c := object{"ComparisonOperator": op.name}
	if values != nil {
		c["AttributeValueList"] = values
	}
	return c
}

// comparisons returns conditions on attributes, and what joins them.
func (g *generator) comparisons(body object, member string) {
	conditions := object{}
	for range 1 + g.r.IntN(2) {
		conditions[pick(g.r, names)] = g.comparison()
	}
	body[member] = conditions
	if chance(g.r, 25) {
		body["ConditionalOperator"] = pick(g.r, []string{"AND", "OR"})
	}
}

// expecting adds a condition to a write, in half of them.
func (g *generator) expecting(body object) {
	switch g.r.IntN(4) {
	case 0:
		g.comparisons(body, "Expected")
	case 1:
		body["Expected"] = object{pick(g.r, names): pick(g.r, []object{
			{"Exists": false}, {"Value": anyValue(g.r, 1)}, {"Exists": true, "Value": anyValue(g.r, 1)},
		})}
	}
}

// legacy returns a request without an expression.
func (g *generator) legacy(t *schema) request {
	body := object{"TableName": t.name}
	switch g.r.IntN(6) {
	case 0:
		body["Item"] = g.item(t)
		g.expecting(body)
		return request{op: "PutItem", body: g.writeOptions(body, "NONE", "ALL_OLD")}
	case 1:
		body["Key"] = g.key(t)
		g.expecting(body)
		return request{op: "DeleteItem", body: g.writeOptions(body, "NONE", "ALL_OLD")}
	case 2:
		body["Key"] = g.key(t)
		updates := object{}
		for range 1 + g.r.IntN(2) {
			u := object{"Action": pick(g.r, []string{"PUT", "PUT", "ADD", "DELETE"})}
			switch {
			case u["Action"] == "ADD" && chance(g.r, 50):
				u["Value"] = scalar(g.r, "N")
			case u["Action"] == "ADD":
				u["Value"] = set(g.r)
			case u["Action"] == "DELETE" && chance(g.r, 60):
				if chance(g.r, 50) {
					u["Value"] = set(g.r)
				}
			default:
				u["Value"] = anyValue(g.r, 1)
			}
			updates[pick(g.r, names)] = u
		}
		body["AttributeUpdates"] = updates
		g.expecting(body)
		return request{
			op: "UpdateItem", body: g.writeOptions(body, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"),
		}
	case 3:
		body["Key"] = g.key(t)
		body["AttributesToGet"] = g.attributes(t)
		return request{op: "GetItem", body: g.options(body)}
	case 4:
		g.legacyReading(t, body, "ScanFilter")
		return request{op: "Scan", body: g.options(body)}
	}

	hash, sort := g.queried(t, body)
	conditions := object{
		hash.name: object{"ComparisonOperator": "EQ", "AttributeValueList": list{scalar(g.r, hash.kind)}},
	}
	if sort != nil && chance(g.r, 60) {
		op := pick(g.r, legacyOps)
		var values list
		for range op.values {
			values = append(values, scalar(g.r, sort.kind))
		}
		conditions[sort.name] = object{"ComparisonOperator": op.name, "AttributeValueList": values}
	}

	body["KeyConditions"] = conditions
	g.legacyReading(t, body, "QueryFilter")
	return request{op: "Query", body: g.options(body)}
}

func (g *generator) legacyReading(t *schema, body object, filter string) {
	if chance(g.r, 60) {
		g.comparisons(body, filter)
	}
	if chance(g.r, 30) {
		body["AttributesToGet"] = g.attributes(t)
	}
	if chance(g.r, 20) {
		body["Limit"] = 1 + g.r.IntN(5)
	}
}

func (g *generator) attributes(t *schema) list {
	out := list{pick(g.r, names)}
	if chance(g.r, 50) {
		out = append(out, t.hash.name)
	}
	return out
}
