"""Makes the wheel of one platform from a release's binary, or that of sortkey-keys, which has none; see
scripts/build-packages.sh.

    python3 packages/python/build.py VERSION OS/ARCH BINARY FOLDER
    python3 packages/python/build.py VERSION keys FOLDER
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import zipfile

PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",  # the binary is static
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: {summary}
Home-page: https://github.com/sortkey/sortkey
License-Expression: Apache-2.0
Requires-Python: >=3.9
{more}Description-Content-Type: text/markdown

{readme}"""

FIXTURES = """\
Provides-Extra: boto3
Requires-Dist: boto3; extra == "boto3"
Classifier: Framework :: Pytest
"""

HERE = pathlib.Path(__file__).parent


def number_of(version):
    found = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?", version)
    if not found:
        sys.exit(f"{version} is not a version that a wheel can have: write v0.1.0, or v0.1.0-rc.1, -beta.1, -alpha.1")
    return found[1] + (found[2].replace("alpha", "a").replace("beta", "b") + found[3] if found[2] else "")


def modules(package):
    """The files of a package."""
    found = sorted(p for p in package.iterdir() if p.suffix in (".py", ".typed"))
    return {f"{package.name}/{p.name}": (p.read_bytes(), 0o644) for p in found}


def platform(version, target, binary, folder):
    number = number_of(version)
    suffix = ".exe" if target.startswith("windows/") else ""
    files = modules(HERE / "sortkey")
    files[f"sortkey-{number}.data/scripts/sortkey{suffix}"] = (pathlib.Path(binary).read_bytes(), 0o755)
    write(folder, "sortkey", number, PLATFORMS[target], files, {
        "METADATA": METADATA.format(
            name="sortkey", version=number, more=FIXTURES, readme=(HERE / "README.md").read_text(),
            summary="An ordered key-value store that answers like DynamoDB, with a database for each test",
        ),
        "entry_points.txt": "[pytest11]\nsortkey = sortkey.pytest_plugin\n",
    })


def keys(version, folder):
    number, here = number_of(version), HERE.parent / "keys"
    write(folder, "sortkey_keys", number, "any", modules(here / "python" / "sortkey_keys"), {
        "METADATA": METADATA.format(
            name="sortkey-keys", version=number, more="", readme=(here / "README.md").read_text(),
            summary="Composite keys of DynamoDB whose byte order is the order of their values, for generated code",
        ),
    })


def write(folder, name, number, platforms, files, texts):
    """Writes a wheel of some files, with texts about them."""
    info = f"{name}-{number}.dist-info"
    pure = "true" if platforms == "any" else "false"
    tags = "".join(f"Tag: py3-none-{one}\n" for one in platforms.split("."))
    texts["WHEEL"] = f"Wheel-Version: 1.0\nGenerator: sortkey\nRoot-Is-Purelib: {pure}\n{tags}"
    texts["licenses/LICENSE"] = (HERE.parent.parent / "LICENSE").read_text()
    for path, text in texts.items():
        files[f"{info}/{path}"] = (text.encode(), 0o644)

    record = ""
    for path, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)

    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600")))[:6]
    made = pathlib.Path(folder) / f"{name}-{number}-py3-none-{platforms}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, (data, mode) in files.items():
            entry = zipfile.ZipInfo(path, when)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(made.name)


if __name__ == "__main__":
    version, what, *rest = sys.argv[1:]
    if what == "keys":
        keys(version, *rest)
    else:
        platform(version, what, *rest)
