"""Fixtures for pytest.

sortkey          the database of the tests: sortkey.fail(…), sortkey.clock, sortkey.requests()
dynamodb         boto3's resource on it
dynamodb_client  boto3's client on it
sortkey_server   the server of the run, one for each worker of pytest-xdist

Before tests are collected, the environment points every client of DynamoDB at the database of this process, so that
none reaches an account, whatever its keys and wherever it is made. The server starts when a client or a fixture
first asks for it, and the database is emptied after each test. What it begins with is set in pytest.ini:

    [pytest]
    sortkey_load = template.yaml
    sortkey_args = --enforce-throughput
"""

import os
import select
import socket
import threading

import pytest

from ._binary import SortkeyError
from ._server import REGION, Server

NAME = "tests"


class _Worker:
    """The server of this process, which the environment names before it runs."""

    def __init__(self, config):
        self._config = config
        self.server = self.failure = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._reserved = socket.create_server(("127.0.0.1", 0))
        self._port = self._reserved.getsockname()[1]
        self._environment = pytest.MonkeyPatch()
        url = f"http://127.0.0.1:{self._port}/{NAME}"
        self._set(
            AWS_ENDPOINT_URL_DYNAMODB=url,
            AWS_ENDPOINT_URL_DYNAMODB_STREAMS=url,
            AWS_IGNORE_CONFIGURED_ENDPOINT_URLS="false",
            **{
                name: ",".join(filter(None, [os.environ.get(name), "127.0.0.1"]))
                for name in ("NO_PROXY", "no_proxy")
            },
        )
        if not _has_keys():
            self._set(AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any")
        if not _has_region():
            self._set(AWS_REGION=REGION, AWS_DEFAULT_REGION=REGION)

        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        """Starts the server when a client connects. The client is refused, and tries again as each AWS SDK does."""
        while not self._ended.wait(0.05):
            with self._lock:
                if self._ended.is_set() or not select.select([self._reserved], [], [], 0)[0]:
                    continue
            self.start()

    def _set(self, **variables):
        for name, value in variables.items():
            self._environment.setenv(name, value)

    def start(self):
        config = self._config
        folder = config.inipath.parent if config.inipath else config.rootpath
        load = [folder / name if (folder / name).exists() else name for name in config.getini("sortkey_load")]
        with self._lock:
            if not self._ended.is_set():
                self._ended.set()
                self._reserved.close()
                try:
                    self.server = Server(load=load, args=config.getini("sortkey_args"), port=self._port)
                except SortkeyError as e:
                    self.failure = str(e)

    def empty(self):
        if self.server:
            self.server.database(NAME).reset()

    def close(self):
        self._environment.undo()
        self._ended.set()
        with self._lock:
            self._reserved.close()
        if self.server:
            self.server.close()


def _aws_files():
    home = os.path.join(os.path.expanduser("~"), ".aws")
    return [
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE", os.path.join(home, "credentials")),
        os.environ.get("AWS_CONFIG_FILE", os.path.join(home, "config")),
    ]


def _has_keys():
    """Reports whether clients find keys of the developer, without asking anybody for them."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
             "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
    return any(os.environ.get(name) for name in names) or any(os.path.exists(path) for path in _aws_files())


def _has_region():
    if os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"):
        return True
    try:
        import botocore.session
    except ImportError:
        return False
    return botocore.session.Session().get_config_variable("region") is not None


_worker = pytest.StashKey()


def pytest_addoption(parser):
    parser.addini("sortkey_load", "models, templates, request files, exports, one on each line", type="linelist")
    parser.addini("sortkey_args", "further arguments of sortkey serve", type="args")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.stash[_worker] = _Worker(config)


def pytest_unconfigure(config):
    config.stash[_worker].close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    _refuse_failure(item.config)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    item.config.stash[_worker].empty()


def _refuse_failure(config):
    """Ends the run if its server did not start: each client would try for half a minute."""
    if config.stash[_worker].failure:
        pytest.exit(config.stash[_worker].failure, pytest.ExitCode.USAGE_ERROR)


def pytest_terminal_summary(terminalreporter, config):
    server = config.stash[_worker].server
    if server and server.said():
        terminalreporter.section("sortkey")
        terminalreporter.write_line(server.said())


@pytest.fixture(scope="session")
def sortkey_server(pytestconfig):
    """The server of the run: server.database() is one more database, for tests that run at the same time."""
    worker = pytestconfig.stash[_worker]
    worker.start()
    _refuse_failure(pytestconfig)
    return worker.server


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
