"use strict";

const { spawn } = require("node:child_process");
const { randomBytes, randomUUID } = require("node:crypto");
const http = require("node:http");
const { binary } = require("./binary.js");

const region = "us-east-1";

/** Starts a server with databases in memory, each at an address of its own. Access keys do not matter. */
async function startServer({ load = [], args = [], timeout = 60_000 } = {}) {
  const token = randomBytes(16).toString("hex");
  const command = ["serve", "--addr", "127.0.0.1:0", "--isolate=path", "--control", "--until-eof"];
  for (const what of [load].flat()) {
    command.push("--load", what);
  }
  // The server ends with its standard input, also when this process is killed.
  const further = typeof args === "string" ? args.split(/\s+/).filter(Boolean) : args;
  const child = spawn(binary(), [...command, ...further], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, SORTKEY_CONTROL_TOKEN: token },
  });
  child.stdin.on("error", () => {});

  let said = "";
  child.stderr.on("data", (data) => {
    said = (said + data).slice(-65_536);
  });
  const { url, control } = await new Promise((resolve, reject) => {
    const fail = (why) => {
      child.kill("SIGKILL");
      reject(new Error(`the server did not start: ${said.trim() || why}`));
    };
    const timer = setTimeout(fail, timeout, `it was not ready in ${timeout} ms`);
    let out = "";
    child.stdout.on("data", (data) => {
      out += data;
      const url = /AWS_ENDPOINT_URL_DYNAMODB=(\S+)/.exec(out);
      const control = /control at (\S+) .*\n/.exec(out);
      if (url && control) {
        clearTimeout(timer);
        child.stdout.removeAllListeners("data");
        child.stdout.resume();
        resolve({ url: url[1], control: control[1] });
      }
    });
    child.once("error", (e) => fail(e.message));
    child.once("close", (code) => {
      clearTimeout(timer);
      fail(`it ended with code ${code}`);
    });
  });

  child.unref(); // a process that has done its work need not wait for the server
  for (const stream of child.stdio) {
    stream?.unref?.();
  }
  return new Server(url, control, token, child);
}

class Server {
  #token;
  #child;

  constructor(url, controlURL, token, child) {
    this.url = url;
    this.controlURL = controlURL;
    this.#token = token;
    this.#child = child;
  }

  /** The environment by which connect, in another process, finds this server. */
  get env() {
    return { SORTKEY_URL: this.url, SORTKEY_CONTROL: this.controlURL, SORTKEY_CONTROL_TOKEN: this.#token };
  }

  /** Sends a request of docs/testing-languages.md to the control, and returns its answer. */
  control(method, path, body) {
    return new Promise((resolve, reject) => {
      const request = http.request(
        this.controlURL + path,
        { method, headers: { Authorization: `Bearer ${this.#token}` }, agent: false },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (part) => (text += part));
          answer.on("end", () => {
            const value = JSON.parse(text);
            if (answer.statusCode === 200) {
              resolve(value);
            } else {
              reject(new Error(value.error));
            }
          });
          answer.on("error", reject);
        },
      );
      request.on("error", (e) => reject(new Error(`the server has ended: ${e.message}`, { cause: e })));
      request.end(body && JSON.stringify(body));
    });
  }

  /** Returns a database of its own, or that of a name. */
  database(name = `test-${randomUUID()}`) {
    return new Database(this, name);
  }

  /** Ends the server with its databases. */
  close() {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      child.ref();
      const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      child.once("exit", () => {
        clearTimeout(timer);
        resolve();
      });
      child.stdin.end();
    });
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }
}

/** Returns the server that the environment names, as a preset of Jest or Vitest has set it. */
function connect(env = process.env) {
  if (!env.SORTKEY_URL || !env.SORTKEY_CONTROL || !env.SORTKEY_CONTROL_TOKEN) {
    throw new Error("no server is running: use the preset of sortkey for Jest, or its globalSetup for Vitest");
  }
  return new Server(env.SORTKEY_URL, env.SORTKEY_CONTROL, env.SORTKEY_CONTROL_TOKEN);
}

class Database {
  #path;

  constructor(server, name) {
    this.server = server;
    this.name = name;
    this.url = `${server.url}/${encodeURIComponent(name)}`;
    this.#path = `/databases/${encodeURIComponent(name)}`;
    this.clock = {
      advance: async (time) => {
        await server.control("POST", `${this.#path}/clock`, { advance: duration(time) });
      },
    };
  }

  /** The environment variables that point an AWS SDK at this database. */
  get env() {
    return {
      AWS_ENDPOINT_URL_DYNAMODB: this.url,
      AWS_ENDPOINT_URL_DYNAMODB_STREAMS: this.url,
      AWS_ACCESS_KEY_ID: "any",
      AWS_SECRET_ACCESS_KEY: "any",
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
      AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "false",
    };
  }

  /** What the constructor of a client of the AWS SDK takes. */
  get config() {
    return { endpoint: this.url, region, credentials: { accessKeyId: "any", secretAccessKey: "any" } };
  }

  /** Makes calls fail. The members are those of a fault in docs/testing.md, with small first letters. */
  async fail({ delay, ...members }) {
    const body = delay === undefined ? {} : { Delay: duration(delay) };
    for (const [name, value] of Object.entries(members)) {
      body[name[0].toUpperCase() + name.slice(1)] = value;
    }
    const { id } = await this.server.control("POST", `${this.#path}/faults`, body);
    return {
      count: async () => {
        const faults = await this.server.control("GET", `${this.#path}/faults`);
        return faults.find((f) => f.id === id)?.count ?? 0;
      },
      lift: async () => {
        await this.server.control("DELETE", `${this.#path}/faults/${id}`);
      },
    };
  }

  /** Lifts all faults. */
  async lift() {
    await this.server.control("DELETE", `${this.#path}/faults`);
  }

  /** Returns what requests have read and cost since the database was made. */
  async requests() {
    return (await this.server.control("GET", `${this.#path}/requests`)).requests;
  }

  /** Forgets them. */
  async forgetRequests() {
    await this.server.control("DELETE", `${this.#path}/requests`);
  }

  /** Makes this database a copy of another one as it is now. */
  async restore(other) {
    await other.requests(); // so that there is one, if it had none yet
    await this.server.control("PUT", `${this.#path}?from=${encodeURIComponent(other.name)}`);
  }

  /** Drops the database: the next request gets a new copy of what the server has loaded. */
  async reset() {
    await this.server.control("DELETE", this.#path);
  }
}

/** Milliseconds, or text such as "25h". */
function duration(time) {
  return typeof time === "number" ? `${time}ms` : time;
}

module.exports = { binary, connect, startServer };
