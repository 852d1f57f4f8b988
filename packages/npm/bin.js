#!/usr/bin/env node
"use strict";

const { spawn } = require("node:child_process");
const { binary } = require("./binary.js");

try {
  const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (e) => {
    console.error(`sortkey: ${e.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code) => {
    process.exit(code ?? 1);
  });
} catch (e) {
  console.error(`sortkey: ${e.message}`);
  process.exitCode = 1;
}
