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
        if os.path.isfile(chosen) and os.access(chosen, os.X_OK):
            return chosen
        raise SortkeyError(f"SORTKEY_BINARY is {chosen}, which is not an executable file: name the command sortkey, or unset it")

    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        os.path.join(os.path.dirname(package), "bin"),  # pip install --target
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", "nt_user" if os.name == "nt" else "posix_user"),
        os.path.join(sys.prefix, "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise SortkeyError(
        f"the command sortkey is not in {', '.join(folders)}: install the wheel for {platform.system()} on "
        f"{platform.machine()} with pip (there are wheels for Linux, macOS and Windows on x86-64 and arm64), or set "
        "SORTKEY_BINARY to a command that you have built"
    )
