"""Checks the Python that sortkey design gen writes. scripts/check-gen.sh runs it.

    python check_gen.py FOLDER keys            key functions, against the answers of package keys
    python check_gen.py FOLDER MODULE          the patterns of a model, against a server with its items

FOLDER has what the test in fuzz/gencheck wrote.
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
    module = importlib.import_module(checks[0]["Module"])
    data = json.load(open(f"{folder}/vectors.json"))

    def key_type(t):
        return module.KeyType(
            t["Name"] or "string", width=t["Width"], scale=t["Scale"], values=tuple(t["Values"] or ()), desc=t["Desc"]
        )

    def part(p):
        return module.Part(literal=p["Literal"], name=p["Name"], type=key_type(p["Type"]))

    templates = [module.Template(t["Source"], [part(p) for p in t["Parts"]]) for t in data["Templates"]]

    def value(a):
        v = int(a["Text"]) if a["Int"] else a["Text"]
        return None if a["None"] else module.Excluding(v) if a["Excluded"] else v

    names = {"beginsWith": "begins_with"}
    for v in data["Vectors"]:
        template = templates[v["Template"]]
        want, want_error = v.get("Want") or [], v.get("Error")
        got, error = None, None
        try:
            got = getattr(template, names.get(v["Method"], v["Method"]))(*map(value, v["Args"] or ()))
        except module.InvalidKeyError as e:
            error = e
        where = f"{template.source!r} {v['Method']} {v['Args']}"
        if want_error and not want_error["Msg"] and error:
            continue  # any error
        if want_error:
            want = [want_error[k].replace("pass nil", "pass None") for k in ("Msg", "Advice", "Template", "Component")]
            got = error and [error.msg, error.advice, error.template, error.component]
        elif isinstance(got, module.KeyRange):
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


class SmallPages:
    """A client whose pages have a few items, for requests without a limit."""

    def __init__(self, client, size):
        self.client, self.size, self.pages = client, size, 0

    def __getattr__(self, name):
        def call(**request):
            self.pages += 1
            if name != "get_item":
                request.setdefault("Limit", self.size)
            return getattr(self.client, name)(**request)

        return call


def argument(a):
    return int(a["Text"]) if a["Number"] else a["Text"]


def check_model(check):
    import boto3

    module = importlib.import_module(check["Module"])
    client = boto3.client("dynamodb")
    pages = 0
    for call in check["Calls"].get("python") or []:
        want = [{k: from_json(v) for k, v in item.items()} for item in call["Items"]]
        small = SmallPages(client, 1 + len(want) // 3)
        for using in client, small:
            got = getattr(module, call["Function"])(using, *map(argument, call["Args"]))
            got = ([got] if got else []) if call["Operation"] == "GetItem" else list(got)
            if [normal(i) for i in got] != [normal(i) for i in want]:
                where = f"{check['Module']}.{call['Function']}"
                complain(f"{where} returns {len(got)} items, want {len(want)}: {got[:2]} {want[:2]}")
        pages += small.pages
    for k in check["Keys"].get("python") or []:
        cls = getattr(module, k["Type"])
        item = {name: from_json(v) for name, v in k["Item"].items()}
        values = cls(**{name: argument(a) for name, a in k["Values"].items()})
        if normal(values.attributes()) != normal(item):
            complain(f"{check['Module']}.{k['Type']}: attributes {values.attributes()}, want {item}")
        if normal(cls.parse(item).key()) != normal(values.key()):
            complain(f"{check['Module']}.{k['Type']}: parse({item}) is {cls.parse(item)}")
    writes = 0
    for w in check["Writes"].get("python") or []:
        where = f"{check['Module']}.{w['Function']}"
        item = {
            name: {k: from_json(v) for k, v in (w.get(name) or {}).items()} for name in ("Key", "Before", "After", "Other")
        }
        client.delete_item(TableName=w["Table"], Key=item["Key"])
        if item["Before"]:
            client.put_item(TableName=w["Table"], Item=item["Before"])
        values = getattr(module, w["Type"])(**{name: argument(a) for name, a in w["Values"].items()})
        other = [item["Other"]] if "Other" in w else []
        try:
            getattr(module, w["Function"])(client, values, *other, *map(argument, w["Args"]))
        except client.exceptions.ConditionalCheckFailedException:
            if not w["Conditional"]:
                complain(f"{where} is refused")
            continue
        got = client.get_item(TableName=w["Table"], Key=item["Key"], ConsistentRead=True).get("Item")
        if normal(got) != normal(item["After"]):
            complain(f"{where} leaves {got}, want {item['After']}")
        writes += 1
    if check["Writes"].get("python") and not writes:
        complain(f"{check['Module']}: no write was made")
    patterns, samples = len(check["Calls"].get("python") or []), len(check["Keys"].get("python") or [])
    print(
        f"python: {check['Model']}: the functions of {patterns} patterns are right, also in {pages} small pages, "
        f"and the keys of {samples} items; {writes} writes leave the right items"
    )


if what == "keys":
    check_keys()
else:
    check_model(next(c for c in checks if c["Module"] == what))
sys.exit(1 if wrong else 0)
