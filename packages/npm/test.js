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
  const profile = ofDeveloper();
  if (!variables.some((name) => process.env[name]) && !keys.test(profile)) {
    process.env.AWS_ACCESS_KEY_ID = rest.AWS_ACCESS_KEY_ID;
    process.env.AWS_SECRET_ACCESS_KEY = rest.AWS_SECRET_ACCESS_KEY;
  }
  if (!process.env.AWS_REGION && !/^\s*region\s*=/m.test(profile)) {
    process.env.AWS_REGION = rest.AWS_REGION;
    process.env.AWS_DEFAULT_REGION = rest.AWS_DEFAULT_REGION;
  }
}

// What clients get keys from: variables, and lines of a profile.
const variables = [
  "AWS_ACCESS_KEY_ID",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
const keys = /^\s*(aws_access_key_id|role_arn|credential_process|sso_session|sso_start_url|web_identity_token_file)\s*=/m;

/** Returns the lines of the developer's profile in the files of the AWS SDKs. */
function ofDeveloper() {
  const name = process.env.AWS_PROFILE ?? "default";
  let lines = "";
  for (const [variable, file] of [
    ["AWS_SHARED_CREDENTIALS_FILE", "credentials"],
    ["AWS_CONFIG_FILE", "config"],
  ]) {
    try {
      const text = fs.readFileSync(process.env[variable] ?? path.join(os.homedir(), ".aws", file), "utf8");
      for (const section of text.split(/^\s*\[/m)) {
        const [title, ...rest] = section.split("]");
        if (title.replace(/^profile\s+/, "").trim() === name) {
          lines += rest.join("]");
        }
      }
    } catch {
      // there is no such file
    }
  }
  return lines;
}

module.exports = { point, setUp, sortkey };
