import { describeSessionStore } from '@h/session/testing';
import { describe } from 'vitest';
import { createSchema } from '../../test/database.js';
import { postgresSessions } from './postgres-sessions.js';

describe('postgresSessions', () => {
  describeSessionStore(() => {
    const schema = createSchema();
    return {
      store: postgresSessions(schema.connect()),
      reopen: () => postgresSessions(schema.connect()),
      dispose: () => schema.dispose(),
    };
  });
});
