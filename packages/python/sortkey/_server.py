"""Starts a server, and controls its databases."""

import datetime
import json
import os
import re
import secrets
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
import uuid

from ._binary import SortkeyError, binary

REGION = "us-east-1"


class Server:
    """A server with databases in memory, each at an address of its own. Access keys do not matter.

    load names what each database begins with: models, templates, request files, folders of those and exports.
    args are further arguments of `sortkey serve`, such as "--enforce-throughput".
    """

    def __init__(self, load=(), args=(), timeout=60):
        if isinstance(load, (str, os.PathLike)):
            load = [load]
        command = [binary(), "serve", "--addr", "127.0.0.1:0", "--isolate=path", "--control", "--until-eof"]
        for what in load:
            command += ["--load", os.fspath(what)]
        self._token = secrets.token_hex(16)
        self._process = subprocess.Popen(
            command + list(args),
            stdin=subprocess.PIPE,  # the server ends with it, also when this process is killed
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "SORTKEY_CONTROL_TOKEN": self._token},
        )
        self._stderr = bytearray()
        self._started = threading.Event()
        self.url = self._control = None
        readers = [threading.Thread(target=read, daemon=True) for read in (self._read_stdout, self._read_stderr)]
        for reader in readers:
            reader.start()
        in_time = self._started.wait(timeout)
        if self.url is None or self._control is None:
            self.close()
            for reader in readers:
                reader.join(5)
            why = f"it ended with code {self._process.returncode}" if in_time else f"it was not ready in {timeout} s"
            raise SortkeyError(f"the server did not start: {self.said() or why}")

    def said(self):
        """Returns what the server has said besides answers: what it has loaded, and warnings."""
        return self._stderr.decode(errors="replace").strip()

    def _read_stdout(self):
        for line in self._process.stdout:
            found = re.search(rb"AWS_ENDPOINT_URL_DYNAMODB=(\S+)", line)
            if found:
                self.url = found[1].decode()
            found = re.search(rb"control at (\S+) ", line)
            if found:
                self._control = found[1].decode()
            if self.url and self._control:
                self._started.set()
        self._started.set()  # it has ended

    def _read_stderr(self):
        for line in self._process.stderr:
            if len(self._stderr) < 64 << 10:
                self._stderr += line

    def control(self, method, path, body=None):
        """Sends a request of docs/testing-languages.md to the control, and returns its answer."""
        request = urllib.request.Request(
            self._control + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self._token},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            raise SortkeyError(json.load(e)["error"]) from None
        except urllib.error.URLError as e:
            ended = self._process.poll()
            if ended is None:
                raise
            raise SortkeyError(f"the server has ended with code {ended}: {self.said() or e.reason}") from None

    def database(self, name=None):
        """Returns a database of its own, or that of a name."""
        return Database(self, name or f"test-{uuid.uuid4()}")

    def close(self):
        """Ends the server with its databases."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Database:
    """A database of a server: every client with its url sees it, whatever its access key."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        escaped = urllib.parse.quote(name, safe="")
        self.url = f"{server.url}/{escaped}"
        self._path = "/databases/" + escaped
        self.clock = Clock(self)

    @property
    def env(self):
        """The environment variables that point an AWS SDK at this database."""
        return {
            "AWS_ENDPOINT_URL_DYNAMODB": self.url,
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.url,
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false",
        }

    def _arguments(self, options):
        options.setdefault("region_name", REGION)
        return {
            "endpoint_url": self.url, "aws_access_key_id": "any", "aws_secret_access_key": "any", **options,
        }

    def client(self, service="dynamodb", **options):
        """Returns a client of boto3: of dynamodb, or of dynamodbstreams."""
        return _boto3().session.Session().client(service, **self._arguments(options))

    def resource(self, **options):
        """Returns boto3's resource of DynamoDB."""
        return _boto3().session.Session().resource("dynamodb", **self._arguments(options))

    def fail(self, operation=None, code=None, **options):
        """Makes calls fail, and returns the fault.

        The options are the members of a fault in docs/testing.md, in Python's spelling: table, index, key,
        skip, times, nth, chance, seed, message, reasons, unprocessed, delay (seconds), hang, reset, lose_answer.
        """
        members = {"".join(word.title() for word in name.split("_")): value for name, value in options.items()}
        if "Delay" in members:
            members["Delay"] = _duration(members["Delay"])
        if operation:
            members["Operation"] = operation
        if code:
            members["Code"] = code
        return Fault(self, self.server.control("POST", self._path + "/faults", members)["id"])

    def lift(self):
        """Lifts all faults."""
        self.server.control("DELETE", self._path + "/faults")

    def requests(self):
        """Returns what requests have read and cost since the database was made."""
        return self.server.control("GET", self._path + "/requests")["requests"]

    def forget_requests(self):
        """Forgets them."""
        self.server.control("DELETE", self._path + "/requests")

    def restore(self, other):
        """Makes this database a copy of another one as it is now."""
        other.requests()  # so that there is one, if it had none yet
        self.server.control("PUT", self._path + "?from=" + urllib.parse.quote(other.name, safe=""))

    def reset(self):
        """Drops the database: the next request gets a new copy of what the server has loaded."""
        self.server.control("DELETE", self._path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reset()


class Clock:
    """The clock of a database, which only goes forwards."""

    def __init__(self, database):
        self._database = database

    def advance(self, delta=None, **parts):
        """Makes it later: advance(hours=25), or a timedelta, seconds or text such as "25h".

        What has expired is gone when it returns.
        """
        delta = datetime.timedelta(**parts) if delta is None else delta
        self._database.server.control("POST", self._database._path + "/clock", {"advance": _duration(delta)})


class Fault:
    """Calls that fail, until lift or the end of the database."""

    def __init__(self, database, number):
        self._database, self._number = database, number

    def count(self):
        """Returns how many calls have failed; 0 after lift."""
        for row in self._database.server.control("GET", self._database._path + "/faults"):
            if row["id"] == self._number:
                return row["count"]
        return 0

    def lift(self):
        """Lets later calls pass."""
        self._database.server.control("DELETE", f"{self._database._path}/faults/{self._number}")


def _duration(value):
    """Returns a timedelta or seconds as the control reads times; text, such as "25h", as it is."""
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    return value if isinstance(value, str) else f"{value:.6f}s"


def _boto3():
    try:
        import boto3
    except ImportError:
        raise SortkeyError("boto3 is not installed: pip install boto3") from None
    return boto3
