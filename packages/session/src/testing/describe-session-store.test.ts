import { memorySessions } from '@h/turn';
import { describe } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { fileSessions } from '../index.js';
import { describeSessionStore } from './index.js';

describe('memorySessions', () => {
  describeSessionStore(() => memorySessions());
});

/** The other values of `fsync` are among the long tests. */
describe('fileSessions', () => {
  describeSessionStore(async () => {
    const directory = temporaryFolder();
    return { store: fileSessions({ directory }), reopen: () => fileSessions({ directory }) };
  });
});
