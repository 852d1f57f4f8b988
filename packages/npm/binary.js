"use strict";

const fs = require("node:fs");

const platforms = {
  "linux x64": "@sortkey/linux-x64",
  "linux arm64": "@sortkey/linux-arm64",
  "darwin x64": "@sortkey/darwin-x64",
  "darwin arm64": "@sortkey/darwin-arm64",
  "win32 x64": "@sortkey/win32-x64",
  "win32 arm64": "@sortkey/win32-arm64",
};

/** Returns the path of the command. SORTKEY_BINARY names another one. */
function binary() {
  const chosen = process.env.SORTKEY_BINARY;
  if (chosen) {
    if (!fs.existsSync(chosen)) {
      throw new Error(`SORTKEY_BINARY is ${chosen}, which does not exist: name the command sortkey, or unset it`);
    }
    return chosen;
  }
  const name = platforms[`${process.platform} ${process.arch}`];
  if (!name) {
    throw new Error(
      `there is no sortkey for ${process.platform} on ${process.arch}: set SORTKEY_BINARY to a command that you have built`,
    );
  }
  try {
    return require.resolve(`${name}/${process.platform === "win32" ? "sortkey.exe" : "sortkey"}`);
  } catch {
    throw new Error(
      `the package ${name} is missing: install sortkey again without --omit=optional, and on the platform that runs it`,
    );
  }
}

module.exports = { binary };
