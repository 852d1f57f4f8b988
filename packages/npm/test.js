"use strict";

const { connect } = require("./index.js");

let current;

/** Gives the next test a database of its own, and points each AWS SDK at it. */
function begin() {
  current = connect().database();
  Object.assign(process.env, current.env);
  delete process.env.AWS_PROFILE;
  delete process.env.AWS_SESSION_TOKEN;
}

/** Drops the database of a test. */
async function end() {
  const database = current;
  current = undefined;
  await database?.reset();
}

/** The database of the running test. */
const sortkey = new Proxy(
  {},
  {
    get(_, name) {
      if (!current) {
        throw new Error("no test is running, or the set-up of sortkey is not in the configuration");
      }
      const value = current[name];
      return typeof value === "function" ? value.bind(current) : value;
    },
  },
);

module.exports = { begin, end, sortkey };
