"use strict";

const { begin, end } = require("./test.js");

beforeEach(begin);
afterEach(end);
