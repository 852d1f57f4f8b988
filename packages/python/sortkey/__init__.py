"""Sortkey answers like DynamoDB: a database for each test, without a container.

    import sortkey

    with sortkey.Server(load=["template.yaml"]) as server:
        with server.database() as db:
            client = db.client()           # of boto3
            db.fail("PutItem", code="ThrottlingException", times=1)
            db.clock.advance(hours=25)

In pytest, the fixtures of sortkey.pytest_plugin do all of this. The server is the command sortkey, which
this package brings. It ends with the process that started it, however that ends.
"""

from ._binary import SortkeyError, binary
from ._server import Clock, Database, Fault, Server

__all__ = ["Clock", "Database", "Fault", "Server", "SortkeyError", "binary"]
