"use strict";

const { delimiter } = require("node:path");
const { startServer } = require("./index.js");

// Where stop.js finds the server, in the process that Jest or Vitest runs in.
const kept = Symbol.for("sortkey server");

/** Starts the server of a run of Jest or Vitest, and returns what ends it. */
module.exports = async () => {
  const list = (text = "", separator) => text.split(separator).filter(Boolean);
  const server = await startServer({
    load: list(process.env.SORTKEY_LOAD, delimiter),
    args: list(process.env.SORTKEY_ARGS, /\s+/),
  });
  globalThis[kept] = server;
  Object.assign(process.env, server.env);
  require("./test.js").point(server.database("outside-tests")); // so that no client made there reaches an account
  return () => server.close();
};
