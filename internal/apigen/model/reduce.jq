# Reduces a service model, as botocore publishes it, to what apigen needs: operations, shapes and constraints, without
# documentation. It writes one operation or shape per line.
#
#	jq -rf reduce.jq service-2.json >dynamodb.json

def name: if type == "object" then .shape else . end;

def present: with_entries(select(.value != null and .value != false and .value != []));

def section(f): to_entries | sort_by(.key) | map("  \(.key | tojson): \(.value | f | tojson)") | join(",\n");

def operation: {input: (.input | name), output: (.output | name)} | present;

def shape: {
	type, members: (if .members then .members | map_values(name) else null end), required, enum, min, max, pattern,
	member: (.member | name), key: (.key | name), value: (.value | name), exception, fault
} | present;

"{\n\"operations\": {",
(.operations | section(operation + {errors: [.errors[]? | name]})),
"},\n\"shapes\": {",
(.shapes | section(shape)),
"}\n}"
