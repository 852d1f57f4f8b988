"use strict";

/** Use it by `preset: "sortkey"` in Jest's configuration; SORTKEY_LOAD names what each database begins with. */
module.exports = {
  globalSetup: require.resolve("./start.js"),
  globalTeardown: require.resolve("./stop.js"),
  setupFilesAfterEnv: [require.resolve("./each.js")],
};
