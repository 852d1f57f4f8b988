"""What check-packages.sh runs with the wheel."""

import time

import boto3
import pytest

import sortkey as package

KEY = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
}


@pytest.mark.parametrize("n", range(3))
def test_each_has_its_own(dynamodb_client, n):
    assert dynamodb_client.list_tables()["TableNames"] == ["Loaded"]
    dynamodb_client.create_table(TableName="Own", **KEY)
    assert boto3.client("dynamodb").list_tables()["TableNames"] == ["Loaded", "Own"]  # from the environment


def test_clock(sortkey, dynamodb_client):
    dynamodb_client.update_time_to_live(
        TableName="Loaded", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
    )
    later = str(int(time.time()) + 3600)
    dynamodb_client.put_item(TableName="Loaded", Item={"id": {"S": "1"}, "until": {"N": later}})
    sortkey.clock.advance(minutes=30)
    assert dynamodb_client.scan(TableName="Loaded")["Count"] == 1
    sortkey.clock.advance("31m")
    assert dynamodb_client.scan(TableName="Loaded")["Count"] == 0
    assert [r["returned"] for r in sortkey.requests() if r["operation"] == "Scan"] == [1, 0]


def test_faults(sortkey, dynamodb_client):
    late = sortkey.fail("ListTables", delay=0.2, nth=[1])
    begin = time.monotonic()
    dynamodb_client.list_tables()
    assert time.monotonic() - begin > 0.2
    assert late.count() == 1
    late.lift()
    assert late.count() == 0
    with pytest.raises(package.SortkeyError, match="PutIte"):
        sortkey.fail("PutIte", "ThrottlingException")


def test_killed():
    with package.Server() as server:
        db = server.database()
        server._process.kill()
        server._process.wait()
        with pytest.raises(package.SortkeyError, match="the server has ended with code"):
            db.requests()


def test_copies(sortkey_server, sortkey, dynamodb_client):
    dynamodb_client.put_item(TableName="Loaded", Item={"id": {"S": "1"}})
    with sortkey_server.database() as other:
        other.restore(sortkey_server.database())  # which has what was loaded
        other.restore(sortkey)
        assert other.client().scan(TableName="Loaded")["Count"] == 1
        other.reset()
        assert other.client().scan(TableName="Loaded")["Count"] == 0


def test_start():
    begin = time.monotonic()
    with package.Server() as server:
        print(f"started in {time.monotonic() - begin:.3f} s")
        with server.database() as db:
            assert db.client().list_tables()["TableNames"] == []
    with pytest.raises(package.SortkeyError, match=r"nothere\.yaml"):
        package.Server(load=["nothere.yaml"])
