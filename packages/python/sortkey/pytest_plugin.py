"""Fixtures for pytest.

sortkey          the database of the test: sortkey.fail(…), sortkey.clock, sortkey.requests()
dynamodb         boto3's resource on it
dynamodb_client  boto3's client on it
sortkey_server   the server of the run, one for each worker of pytest-xdist

While a test has one of them, the environment points every client that the code under test makes at its
database. What each database begins with is set in pytest.ini:

    [pytest]
    sortkey_load = template.yaml
    sortkey_args = --enforce-throughput
"""

import pytest

from ._server import Server


def pytest_addoption(parser):
    parser.addini("sortkey_load", "models, templates, request files and exports to load", type="paths")
    parser.addini("sortkey_args", "further arguments of sortkey serve", type="args")


@pytest.fixture(scope="session")
def sortkey_server(pytestconfig):
    with Server(load=pytestconfig.getini("sortkey_load"), args=pytestconfig.getini("sortkey_args")) as server:
        yield server


@pytest.fixture
def sortkey(sortkey_server, monkeypatch):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    try:
        import boto3
    except ImportError:
        pass
    else:
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers the access key of the test before
    with sortkey_server.database() as database:
        for name, value in database.env.items():
            monkeypatch.setenv(name, value)
        yield database


@pytest.fixture
def dynamodb(sortkey):
    return sortkey.resource()


@pytest.fixture
def dynamodb_client(sortkey):
    return sortkey.client()
