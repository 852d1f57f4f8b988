/** A set-up file for Vitest: setupFiles: ["sortkey/vitest"], beside globalSetup: ["sortkey/start"]. */
import { beforeAll, beforeEach } from "vitest";
import test from "./test.js";

test.setUp(beforeAll, beforeEach);
