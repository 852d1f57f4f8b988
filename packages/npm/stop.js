"use strict";

/** Ends the server that start.js has started, for Jest. */
module.exports = () => globalThis[Symbol.for("sortkey server")]?.close();
