import type { Database } from "./index";

/** The database of this worker, which is emptied between tests. */
export const sortkey: Database;

/** Points each AWS SDK at a database, by the environment. Keys and a region are set where there are none. */
export function point(database: Database): void;

/** Points each AWS SDK at the database of this worker, and empties it between tests: for other runners. */
export function setUp(beforeAll: (empty: () => Promise<void>) => void, beforeEach: typeof beforeAll): void;
