import { repairHistory } from '@h/turn';
import { expect, it } from 'vitest';
import * as compaction from './index.js';

it('hands on repairHistory, which its users need as well', () => {
  expect(compaction.repairHistory).toBe(repairHistory);
});
