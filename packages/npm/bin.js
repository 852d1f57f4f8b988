#!/usr/bin/env node
"use strict";

const { spawnSync } = require("node:child_process");
const { binary } = require("./binary.js");

try {
  const done = spawnSync(binary(), process.argv.slice(2), { stdio: "inherit" });
  if (done.error) {
    throw done.error;
  }
  process.exitCode = done.status ?? 1;
} catch (e) {
  console.error(`sortkey: ${e.message}`);
  process.exitCode = 1;
}
