/** A set-up file for Vitest: setupFiles: ["sortkey/vitest"], beside globalSetup: ["sortkey/start"]. */
import { afterEach, beforeEach } from "vitest";
import test from "./test.js";

beforeEach(() => test.begin());
afterEach(() => test.end());
