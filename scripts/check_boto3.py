"""Holds a server against boto3; see check-clients.sh, which starts one.

Every answer is compared with one that is worked out here: items in a list,
sorted by the UTF-8 bytes of strings, by the value of numbers and by the bytes
of binary data.
"""

import random
import sys
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.exceptions import ClientError

checks = 0


def same(what, got, want):
    global checks
    checks += 1
    if got != want:
        sys.exit(f"boto3: {what} is wrong\n  want: {want!r}\n  got:  {got!r}")


def refused(what, code, call, **kwargs):
    try:
        got = call(**kwargs)
    except ClientError as e:
        same(what, e.response["Error"]["Code"], code)
        return e.response["Error"]["Message"]
    same(what, got, code)


def order(value):
    if isinstance(value, str):
        return value.encode()
    return value.value if isinstance(value, Binary) else value


def create(db, name, sort_type):
    table = db.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "p", "AttributeType": "S"},
            {"AttributeName": "s", "AttributeType": sort_type},
            {"AttributeName": "g", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "ByGroup",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    )
    table.wait_until_exists()
    return table


def sort_keys(rng, sort_type):
    if sort_type == "S":
        words = ["a", "b", "a#", "a/", "a-", "é", "日本", "😀", "\u0000", "\uffff", "z", "A", "10", "9"]
        return list({rng.choice(words) + rng.choice(words) + rng.choice(words) for _ in range(80)})
    if sort_type == "N":
        # No larger: boto3 refuses to read what the service prints with more
        # than 38 digits, zeros included.
        texts = {"0", "1E-120", "-1E-120", "12345678901234567890123456789012345678", "-0.1234567890123456789"}
        texts |= {f"{rng.randint(-999, 999)}E{rng.randint(-30, 30)}" for _ in range(80)}
        return list({Decimal(t) for t in texts})
    return [Binary(b) for b in {bytes(rng.choice([0, 1, 127, 128, 255]) for _ in range(rng.randint(1, 4))) for _ in range(80)}]


def pages(table, **kwargs):
    """All items of a query, and how many pages they came in."""
    items, n = [], 0
    while True:
        page = table.query(**kwargs)
        n += 1
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items, n
        kwargs["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def check_order(db, sort_type):
    table = create(db, f"Boto3Check{sort_type}", sort_type)
    rng = random.Random(sort_type)
    keys = sort_keys(rng, sort_type)
    items = [{"p": "one", "s": s, "g": i % 3, "text": f"item {i}"} for i, s in enumerate(keys)]
    with table.batch_writer() as batch:
        for item in items:
            batch.put_item(Item=item)
            batch.put_item(Item={**item, "p": "other", "g": 7})
    items.sort(key=lambda item: order(item["s"]))

    where = Key("p").eq("one")
    got, _ = pages(table, KeyConditionExpression=where)
    same(f"the order of {sort_type} keys", got, items)
    got, n = pages(table, KeyConditionExpression=where, Limit=7)
    same(f"pages of {sort_type} keys", got, items)
    same("the number of pages", n, len(items) // 7 + 1)
    got, _ = pages(table, KeyConditionExpression=where, Limit=5, ScanIndexForward=False)
    same(f"pages of {sort_type} keys backwards", got, items[::-1])

    lo, hi = items[len(items) // 4]["s"], items[len(items) // 2]["s"]
    for what, cond, keep in [
        ("=", Key("s").eq(lo), lambda s: order(s) == order(lo)),
        ("<", Key("s").lt(lo), lambda s: order(s) < order(lo)),
        ("<=", Key("s").lte(lo), lambda s: order(s) <= order(lo)),
        (">", Key("s").gt(hi), lambda s: order(s) > order(hi)),
        (">=", Key("s").gte(hi), lambda s: order(s) >= order(hi)),
        ("between", Key("s").between(lo, hi), lambda s: order(lo) <= order(s) <= order(hi)),
    ]:
        got, _ = pages(table, KeyConditionExpression=where & cond, Limit=3)
        same(f"{what} of {sort_type} keys", got, [item for item in items if keep(item["s"])])
    if sort_type == "S":
        for prefix in ["a", "a#", "日", "zz", "\u0000"]:
            got, _ = pages(table, KeyConditionExpression=where & Key("s").begins_with(prefix))
            same(f"begins_with {prefix!r}", got, [item for item in items if item["s"].startswith(prefix)])

    got, _ = pages(table, IndexName="ByGroup", KeyConditionExpression=Key("g").eq(1), Limit=4)
    same("an index", got, [{"p": i["p"], "s": i["s"], "g": Decimal(1)} for i in items if i["g"] == 1])
    page = table.query(KeyConditionExpression=where, FilterExpression=Attr("g").eq(2) & Attr("text").begins_with("item"))
    same("a filter", page["Items"], [item for item in items if item["g"] == 2])
    same("what a filter saw", page["ScannedCount"], len(items))

    # A page starts after its key even when the item there has gone.
    first = table.query(KeyConditionExpression=where, Limit=10)
    table.delete_item(Key=first["LastEvaluatedKey"])
    rest, _ = pages(table, KeyConditionExpression=where, ExclusiveStartKey=first["LastEvaluatedKey"])
    same("a page after a deleted item", rest, items[10:])

    with table.batch_writer() as batch:
        for item in items:
            batch.delete_item(Key={"p": "one", "s": item["s"]})
    same("a partition after its end", table.query(KeyConditionExpression=where)["Items"], [])
    same("the other partition", table.query(KeyConditionExpression=Key("p").eq("other"), Select="COUNT")["Count"], len(items))
    table.delete()
    table.wait_until_not_exists()


def check_errors(db):
    client = db.meta.client
    refused("a missing table", "ResourceNotFoundException", client.get_item, TableName="Nothing", Key={"p": "x"})
    table = create(db, "Boto3Errors", "S")
    refused("a table twice", "ResourceInUseException", create, db=db, name="Boto3Errors", sort_type="S")
    table.put_item(Item={"p": "x", "s": "y", "set": {"a", "b"}, "map": {"list": [1, None, True, b"\x00\xff"]}})
    got = table.get_item(Key={"p": "x", "s": "y"})["Item"]
    same("an item", got, {"p": "x", "s": "y", "set": {"a", "b"}, "map": {"list": [Decimal(1), None, True, Binary(b"\x00\xff")]}})
    refused("a condition", "ConditionalCheckFailedException", table.put_item, Item={"p": "x", "s": "y"}, ConditionExpression=Attr("p").not_exists())
    refused("half a key", "ValidationException", table.get_item, Key={"p": "x"})
    refused("a partition prefix", "ValidationException", table.query, KeyConditionExpression=Key("p").begins_with("x"))
    same("a scan", table.scan()["Count"], 1)
    table.delete()
    same("the tables left", client.list_tables()["TableNames"], [])


def main():
    db = boto3.resource("dynamodb")
    for sort_type in "SNB":
        check_order(db, sort_type)
    check_errors(db)
    print(f"boto3: {boto3.__version__}, {checks} answers, all right")


main()
