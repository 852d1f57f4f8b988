"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { connect } = require("./index.js");

const worker = process.env.JEST_WORKER_ID ?? process.env.VITEST_POOL_ID ?? "1";

/** The database of this worker, which is emptied between tests. */
const sortkey = connect().database(`worker-${worker}`);

/** Points each AWS SDK at the database of this worker, and empties it between tests. */
function setUp(beforeAll, beforeEach) {
  point(sortkey);
  let used = true; // by the file before
  const empty = async () => {
    if (used) {
      await sortkey.reset();
    }
    used = false;
  };
  beforeAll(empty);
  beforeEach(async () => {
    await empty();
    used = true;
  });
}

/** Points each AWS SDK at a database. Keys and a region are set where there are none. */
function point(database) {
  const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_DYNAMODB_STREAMS, ...rest } = database.env;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB,
    AWS_ENDPOINT_URL_DYNAMODB_STREAMS,
    AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "false",
  });
  if (!hasKeys()) {
    process.env.AWS_ACCESS_KEY_ID = rest.AWS_ACCESS_KEY_ID;
    process.env.AWS_SECRET_ACCESS_KEY = rest.AWS_SECRET_ACCESS_KEY;
  }
  if (!process.env.AWS_REGION && !/^\s*region\s*=/m.test(awsFile("AWS_CONFIG_FILE", "config"))) {
    process.env.AWS_REGION = rest.AWS_REGION;
    process.env.AWS_DEFAULT_REGION = rest.AWS_DEFAULT_REGION;
  }
}

/** Whether clients find keys of the developer. */
function hasKeys() {
  const names = [
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
  ];
  return (
    names.some((name) => process.env[name]) ||
    awsFile("AWS_SHARED_CREDENTIALS_FILE", "credentials") !== "" ||
    awsFile("AWS_CONFIG_FILE", "config") !== ""
  );
}

/** Returns the text of a file of the AWS SDKs, "" if there is none. */
function awsFile(variable, name) {
  try {
    return fs.readFileSync(process.env[variable] ?? path.join(os.homedir(), ".aws", name), "utf8");
  } catch {
    return "";
  }
}

module.exports = { point, setUp, sortkey };
