import { afterAll, beforeAll } from 'vitest';
import { repeats } from '../test/database.js';
import './budget.test.js';
import './live-events.test.js';
import './queue/inbox.test.js';
import './queue/lanes.test.js';
import './queue/workers.test.js';
import './sessions/claims.test.js';
import './sessions/postgres-sessions.test.js';
import './stores.test.js';
import './worker.test.js';

// A connection that is cut after a commit loses the answer, and the statement runs again. So all tests must pass when
// each statement runs twice.
beforeAll(() => {
  repeats.statements = true;
});
afterAll(() => {
  repeats.statements = false;
});
