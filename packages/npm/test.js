"use strict";

const { connect } = require("./index.js");

// The database of the running test is kept where a module that is loaded again finds it.
const kept = Symbol.for("sortkey");

/** Gives the next test a database of its own, and points each AWS SDK at it. */
function begin() {
  if (globalThis[kept]) {
    throw new Error(
      "two tests run at the same time: give each its own by connect().database() of sortkey, and pass its config on",
    );
  }
  const database = connect().database();
  globalThis[kept] = database;
  point(database);
}

/** Drops the database of a test. */
async function end() {
  const database = globalThis[kept];
  globalThis[kept] = undefined;
  await database?.reset();
}

/** Points each AWS SDK at a database. */
function point(database) {
  Object.assign(process.env, database.env);
  for (const name of ["AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"]) {
    delete process.env[name];
  }
}

/** The database of the running test. */
const sortkey = new Proxy(
  {},
  {
    get(_, name) {
      const database = globalThis[kept];
      if (!database) {
        throw new Error("no test is running, or the set-up of sortkey is not in the configuration");
      }
      const value = database[name];
      return typeof value === "function" ? value.bind(database) : value;
    },
  },
);

module.exports = { begin, end, point, sortkey };
