"""Makes the wheel of one platform from a release's binary; see scripts/build-packages.sh.

    python3 packages/python/build.py VERSION OS/ARCH BINARY FOLDER
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
Name: sortkey
Version: {version}
Summary: An ordered key-value store that answers like DynamoDB, with a database for each test
Home-page: https://github.com/sortkey/sortkey
License-Expression: {license}
Requires-Python: >=3.9
Provides-Extra: boto3
Requires-Dist: boto3; extra == "boto3"
Classifier: Framework :: Pytest
Description-Content-Type: text/markdown

{readme}"""


def main(version, target, binary, folder):
    found = re.fullmatch(r"v(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?", version)
    if not found:
        sys.exit(f"{version} is not a version that a wheel can have: write v0.1.0, or v0.1.0-rc.1, -beta.1, -alpha.1")
    number = found[1] + (found[2].replace("alpha", "a").replace("beta", "b") + found[3] if found[2] else "")
    here = pathlib.Path(__file__).parent
    suffix = ".exe" if target.startswith("windows/") else ""
    tag = "py3-none-" + PLATFORMS[target]
    info = f"sortkey-{number}.dist-info"

    files = {f"sortkey/{p.name}": (p.read_bytes(), 0o644) for p in sorted((here / "sortkey").glob("*.py"))}
    files[f"sortkey-{number}.data/scripts/sortkey{suffix}"] = (pathlib.Path(binary).read_bytes(), 0o755)
    metadata = METADATA.format(version=number, license="Apache-2.0", readme=(here / "README.md").read_text())
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in PLATFORMS[target].split("."))
    for name, text in {
        "METADATA": metadata,
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: sortkey\nRoot-Is-Purelib: false\n{tags}",
        "entry_points.txt": "[pytest11]\nsortkey = sortkey.pytest_plugin\n",
        "licenses/LICENSE": (here.parent.parent / "LICENSE").read_text(),
    }.items():
        files[f"{info}/{name}"] = (text.encode(), 0o644)

    record = ""
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)

    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600")))[:6]
    path = pathlib.Path(folder) / f"sortkey-{number}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
