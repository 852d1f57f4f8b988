"""Fixtures for pytest.

sortkey          the database of the tests: sortkey.fail(…), sortkey.clock, sortkey.requests()
dynamodb         boto3's resource on it
dynamodb_client  boto3's client on it
sortkey_server   the server of the run, one for each worker of pytest-xdist

Before tests are collected, the server starts, and the environment points every client of DynamoDB at the database of
this process, so that none reaches an account, whatever its keys and wherever it is made. The database is emptied after
each test. What it begins with is set in pytest.ini:

    [pytest]
    sortkey_load = template.yaml
    sortkey_args = --enforce-throughput
"""

import os

import pytest

from ._binary import SortkeyError
from ._server import Server

NAME = "tests"

# What a profile has from which clients get keys.
KEYS = ("aws_access_key_id", "role_arn", "credential_process", "sso_session", "sso_start_url", "web_identity_token_file")


def _environment(database):
    """Returns what points clients at a database: keys and a region where a client would find none."""
    env = dict(database.env)
    keys, region = _of_developer()
    if keys:
        del env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]
    if region:
        del env["AWS_REGION"], env["AWS_DEFAULT_REGION"]
    for name in ("NO_PROXY", "no_proxy"):
        env[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1"]))
    return env


def _of_developer():
    """Reports whether clients find keys and a region, without asking anybody for them."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
             "AWS_CONTAINER_CREDENTIALS_FULL_URI")
    keys = any(os.environ.get(name) for name in names)
    region = any(os.environ.get(name) for name in ("AWS_REGION", "AWS_DEFAULT_REGION"))
    try:
        import botocore.session
        session = botocore.session.Session()
        profile = session.full_config["profiles"].get(session.profile or "default", {})
    except Exception:  # there is no botocore, or a file that it cannot read: its clients say so
        profile = {}
    return keys or any(name in profile for name in KEYS), region or "region" in profile


_server = pytest.StashKey()
_changed = pytest.StashKey()


def pytest_addoption(parser):
    parser.addini("sortkey_load", "models, templates, request files, exports, one on each line", type="linelist")
    parser.addini("sortkey_args", "further arguments of sortkey serve", type="args")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if getattr(config.option, "numprocesses", None):
        return  # of pytest-xdist: each worker has its own
    folder = config.inipath.parent if config.inipath else config.rootpath
    load = [folder / name if (folder / name).exists() else name for name in config.getini("sortkey_load")]
    try:
        server = Server(load=load, args=config.getini("sortkey_args"))
    except SortkeyError as e:
        raise pytest.UsageError(f"sortkey: {e}") from None
    config.stash[_server], config.stash[_changed] = server, pytest.MonkeyPatch()
    for name, value in _environment(server.database(NAME)).items():
        config.stash[_changed].setenv(name, value)


def pytest_unconfigure(config):
    if _server in config.stash:
        config.stash[_changed].undo()
        config.stash[_server].close()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    yield  # also when a fixture fails
    item.config.stash[_server].database(NAME).reset()


def pytest_terminal_summary(terminalreporter, config):
    if _server in config.stash and config.stash[_server].said():
        terminalreporter.section("sortkey")
        terminalreporter.write_line(config.stash[_server].said())


@pytest.fixture(scope="session")
def sortkey_server(pytestconfig):
    """The server of the run: server.database() is one more database, for tests that run at the same time."""
    return pytestconfig.stash[_server]


@pytest.fixture
def sortkey(sortkey_server):
    """The database of the tests, which is emptied after each: fail(…), clock.advance(hours=25), requests()."""
    return sortkey_server.database(NAME)


@pytest.fixture
def dynamodb(sortkey):
    """boto3's resource on the database of the tests."""
    return sortkey.resource()


@pytest.fixture
def dynamodb_client(sortkey):
    """boto3's client on the database of the tests."""
    return sortkey.client()
