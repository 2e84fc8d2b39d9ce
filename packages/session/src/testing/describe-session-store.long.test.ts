import { describe } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { fileSessions } from '../index.js';
import { describeSessionStore } from './index.js';

describe.each(['record', 'turn', 'never'] as const)('fileSessions with fsync %s', (fsync) => {
  describeSessionStore(async () => {
    const directory = temporaryFolder();
    return { store: fileSessions({ directory, fsync }), reopen: () => fileSessions({ directory, fsync }) };
  });
});
