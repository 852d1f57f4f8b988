import type { Database } from "./index";

/** The database of the running test. */
export const sortkey: Database;

/** Gives the next test a database of its own, and points each AWS SDK at it: for beforeEach. */
export function begin(): void;

/** Points each AWS SDK at a database, by the environment. */
export function point(database: Database): void;

/** Drops the database of a test: for afterEach. */
export function end(): Promise<void>;
