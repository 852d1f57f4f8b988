"""Checks the Python that sortkey design gen writes. scripts/check-gen.sh runs it.

    python check_gen.py FOLDER keys            package sortkey_keys, against the answers of package keys in Go
    python check_gen.py FOLDER MODULE          the patterns of a model, against a server with its items

FOLDER has what the test in internal/design/gen wrote.
"""

import importlib
import json
import sys
from decimal import Decimal

folder, what = sys.argv[1:]
sys.path.insert(0, folder)
checks = json.load(open(f"{folder}/checks.json"))
wrong = 0


def complain(message):
    global wrong
    wrong += 1
    if wrong <= 20:
        print("python:", message, file=sys.stderr)


def check_keys():
    import sortkey_keys as keys

    data = json.load(open(f"{folder}/vectors.json"))

    def key_type(t):
        return keys.KeyType(
            t["Name"] or "string", width=t["Width"], scale=t["Scale"], values=tuple(t["Values"] or ()), desc=t["Desc"]
        )

    def part(p):
        return keys.Part(literal=p["Literal"], name=p["Name"], type=key_type(p["Type"]))

    templates = [keys.Template(t["Source"], [part(p) for p in t["Parts"]]) for t in data["Templates"]]

    def value(a):
        v = int(a["Text"]) if a["Int"] else a["Text"]
        return None if a["None"] else keys.Excluding(v) if a["Excluded"] else v

    names = {"beginsWith": "begins_with"}
    for v in data["Vectors"]:
        template = templates[v["Template"]]
        want, want_error = v.get("Want") or [], v.get("Error")
        got, error = None, None
        try:
            got = getattr(template, names.get(v["Method"], v["Method"]))(*map(value, v["Args"] or ()))
        except keys.InvalidKeyError as e:
            error = e
        where = f"{template.source!r} {v['Method']} {v['Args']}"
        if want_error and not want_error["Msg"] and error:
            continue  # any error
        if want_error:
            want = [want_error[k].replace("pass nil", "pass None") for k in ("Msg", "Advice", "Template", "Component")]
            got = error and [error.msg, error.advice, error.template, error.component]
        elif isinstance(got, keys.KeyRange):
            got = [got.low, got.high, got.prefix]
        elif isinstance(got, str):
            got = [got]
        if got != want:
            complain(f"{where}: got {got or error!r}, want {want}")
    print(f"python: {len(data['Vectors'])} calls of {len(templates)} templates answer as in Go")


def normal(item):
    """An item with numbers as the service has them."""
    return {
        name: {"N": str(Decimal(v["N"]).normalize() + 0)} if "N" in v else v for name, v in (item or {}).items()
    }


def from_json(v):
    """A value of DynamoDB JSON in the form of boto3, whose binary values are bytes."""
    from boto3.dynamodb.types import Binary  # noqa: F401  boto3 is installed
    import base64

    kind, inner = next(iter(v.items()))
    if kind == "B":
        return {"B": base64.b64decode(inner)}
    if kind == "BS":
        return {"BS": [base64.b64decode(b) for b in inner]}
    if kind == "L":
        return {"L": [from_json(e) for e in inner]}
    if kind == "M":
        return {"M": {k: from_json(e) for k, e in inner.items()}}
    return v


def pages(client, operation, request, size=None):
    """The items of all pages, which have a few items if a size is given. A request with a limit asks for one."""
    call = getattr(client, {"GetItem": "get_item", "Query": "query", "Scan": "scan"}[operation])
    page = dict(request)
    if size and operation != "GetItem":
        page.setdefault("Limit", size)
    while True:
        out = call(**page)
        yield from out.get("Items", [])
        if "Item" in out:
            yield out["Item"]
        if not out.get("LastEvaluatedKey") or "Limit" in request:
            return
        page["ExclusiveStartKey"] = out["LastEvaluatedKey"]


def argument(a):
    return int(a["Text"]) if a["Number"] else a["Text"]


def check_model(check):
    import boto3

    module = importlib.import_module(check["Module"])
    client = boto3.client("dynamodb")
    calls, samples = check["Calls"].get("python") or [], check["Keys"].get("python") or []
    for call in calls:
        want = [{k: from_json(v) for k, v in item.items()} for item in call["Items"]]
        request = getattr(module, call["Function"])(*map(argument, call["Args"]))
        for size in None, 1 + len(want) // 3:
            got = list(pages(client, call["Operation"], request, size))
            if [normal(i) for i in got] != [normal(i) for i in want]:
                where = f"{check['Module']}.{call['Function']}"
                complain(f"the request of {where} finds {len(got)} items, want {len(want)}: {got[:2]} {want[:2]}")
    for k in samples:
        item = {name: from_json(v) for name, v in k["Item"].items()}
        values = getattr(module, k["Type"])(**{name: argument(a) for name, a in k["Values"].items()})
        if normal(values.attributes()) != normal(item):
            complain(f"{check['Module']}.{k['Type']}: attributes {values.attributes()}, want {item}")
        if any(values.attributes().get(name) != v for name, v in values.key().items()):
            complain(f"{check['Module']}.{k['Type']}: key {values.key()} of {values.attributes()}")
    print(f"python: {check['Model']}: {len(calls)} requests and the keys of {len(samples)} items are right")


if what == "keys":
    check_keys()
else:
    check_model(next(c for c in checks if c["Module"] == what))
sys.exit(1 if wrong else 0)
