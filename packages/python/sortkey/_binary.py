"""Finds the command."""

import os
import platform
import sys
import sysconfig


class SortkeyError(Exception):
    """What the server or this package refuses; the message says what to do."""


def binary():
    """Returns the path of the command sortkey that this package brought.

    SORTKEY_BINARY names another one.
    """
    name = "sortkey.exe" if os.name == "nt" else "sortkey"
    chosen = os.environ.get("SORTKEY_BINARY")
    if chosen:
        if os.path.isfile(chosen):
            return chosen
        raise SortkeyError(f"SORTKEY_BINARY is {chosen}, which is not a file: name the command sortkey, or unset it")

    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
        os.path.join(os.path.dirname(package), "bin"),  # pip install --target
        os.path.join(sys.prefix, "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise SortkeyError(
        f"the command sortkey is not installed for {platform.system()} on {platform.machine()}: there are wheels for "
        "Linux, macOS and Windows on x86-64 and arm64. Set SORTKEY_BINARY to a command that you have built"
    )
