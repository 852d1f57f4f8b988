"use strict";

require("./test.js").setUp(beforeAll, beforeEach);
