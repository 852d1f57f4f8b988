export interface ServerOptions {
  /** Models, templates, request files, folders of those and exports: what each database begins with. */
  load?: string | string[];
  /** Further arguments of `sortkey serve`, such as "--enforce-throughput". */
  args?: string | string[];
  /** How long to wait for the server, in milliseconds. Default: 60,000. */
  timeout?: number;
}

/** Starts a server with databases in memory, each at an address of its own. It ends with this process, also when that is killed. */
export function startServer(options?: ServerOptions): Promise<Server>;

/** Returns the server that the environment names, as the presets for Jest and Vitest set it. */
export function connect(env?: Record<string, string | undefined>): Server;

/** Returns the path of the command. */
export function binary(): string;

export interface Server {
  readonly url: string;
  readonly controlURL: string;
  /** The environment by which connect, in another process, finds this server. */
  readonly env: Record<string, string>;
  /** Returns a database of its own, or that of a name. */
  database(name?: string): Database;
  /** Sends a request of docs/testing-languages.md to the control, and returns its answer. */
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Ends the server with its databases. */
  close(): Promise<void>;
}

/** A database of a server: every client with its url sees it, whatever its access key. */
export interface Database {
  readonly server: Server;
  readonly name: string;
  readonly url: string;
  /** The environment variables that point an AWS SDK at this database. */
  readonly env: Record<string, string>;
  /** What the constructor of a client of the AWS SDK takes. */
  readonly config: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };
  readonly clock: {
    /** Makes it later: milliseconds, or text such as "25h". What has expired is gone when it resolves. */
    advance(time: number | string): Promise<void>;
  };
  /** Makes calls fail. */
  fail(fault: FaultOptions): Promise<Fault>;
  /** Lifts all faults. */
  lift(): Promise<void>;
  /** Returns what requests have read and cost since the database was made. */
  requests(): Promise<RequestRecord[]>;
  /** Forgets them. */
  forgetRequests(): Promise<void>;
  /** Makes this database a copy of another one as it is now. */
  restore(other: Database): Promise<void>;
  /** Drops the database: the next request gets a new copy of what the server has loaded. */
  reset(): Promise<void>;
}

/** Which calls fail, and how; see docs/testing.md. */
export interface FaultOptions {
  operation?: string;
  table?: string;
  index?: string;
  key?: string;
  skip?: number;
  times?: number;
  nth?: number[];
  chance?: number;
  seed?: number;
  code?: string;
  message?: string;
  reasons?: string[];
  unprocessed?: number;
  /** Milliseconds, or text such as "200ms". */
  delay?: number | string;
  hang?: boolean;
  reset?: boolean;
  loseAnswer?: boolean;
}

export interface Fault {
  /** How many calls have failed; 0 after lift. */
  count(): Promise<number>;
  /** Lets later calls pass. */
  lift(): Promise<void>;
}

export interface RequestRecord {
  operation: string;
  tables: string[];
  examined: number;
  returned: number;
  units: number;
  error?: string;
  slices?: string[];
}
