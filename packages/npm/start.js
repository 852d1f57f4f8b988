"use strict";

const { delimiter } = require("node:path");
const { startServer } = require("./index.js");

/**
 * Starts the server of a run of Jest or Vitest, and returns what ends it. Jest does not call that: its server ends
 * with the process.
 */
module.exports = async () => {
  const list = (text, separator) => (text ? text.split(separator) : []);
  const server = await startServer({
    load: list(process.env.SORTKEY_LOAD, delimiter),
    args: list(process.env.SORTKEY_ARGS, " "),
  });
  Object.assign(process.env, server.env);
  return () => server.close();
};
