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

import os

import pytest

from ._server import Server


def pytest_addoption(parser):
    parser.addini("sortkey_load", "models, templates, request files, exports, one on each line", type="linelist")
    parser.addini("sortkey_args", "further arguments of sortkey serve", type="args")


@pytest.fixture(scope="session")
def sortkey_server(pytestconfig):
    folder = pytestconfig.inipath.parent if pytestconfig.inipath else pytestconfig.rootpath
    load = [folder / name if (folder / name).exists() else name for name in pytestconfig.getini("sortkey_load")]
    with Server(load=load, args=pytestconfig.getini("sortkey_args")) as server:
        yield server


@pytest.fixture
def sortkey(sortkey_server, monkeypatch):
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, ",".join(filter(None, [os.environ.get(name), "127.0.0.1"])))
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
