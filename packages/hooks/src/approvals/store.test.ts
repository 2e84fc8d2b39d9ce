import { describe, expect, it } from 'vitest';
import { hashCall } from './subject.js';
import { describeApprovalStore } from '../testing/index.js';
import { coveringRule, memoryApprovalStore, type RememberedApproval } from './store.js';

const rule = (pattern: string, tool = 'bash'): RememberedApproval => ({ tool, pattern, at: 0 });

describe('coveringRule', () => {
  it('requires the same tool, and the pattern or the exact call', () => {
    const call = { name: 'bash', input: { command: 'git push' } };
    const exact: RememberedApproval = { tool: 'bash', hash: hashCall(call), at: 0 };
    expect(coveringRule([rule('git push')], call)).toBeDefined();
    expect(coveringRule([rule('git push', 'sh')], call)).toBeUndefined();
    expect(coveringRule([exact], call)).toBe(exact);
    expect(coveringRule([exact], { name: 'bash', input: { command: 'git push', cwd: '/' } })).toBeUndefined();
    expect(coveringRule([{ tool: 'bash', at: 0 }], call)).toBeUndefined();
  });
});

describe('hashCall', () => {
  it('ignores the order of keys, and differs for different names or inputs', () => {
    expect(hashCall({ name: 'a', input: { x: 1, y: [1, { z: null }] } })).toBe(
      hashCall({ name: 'a', input: { y: [1, { z: null }], x: 1 } }),
    );
    expect(hashCall({ name: 'a', input: { x: 1 } })).not.toBe(hashCall({ name: 'b', input: { x: 1 } }));
    expect(hashCall({ name: 'a', input: { x: '1' } })).not.toBe(hashCall({ name: 'a', input: { x: 1 } }));
    expect(hashCall({ name: 'a', input: { x: new Map() } })).toBeUndefined();
  });
});

describe('memoryApprovalStore', () => {
  describeApprovalStore((options) => ({ store: memoryApprovalStore(options) }));

  it('rejects an unknown option', () => {
    expect(() => memoryApprovalStore({ max: 1 } as never)).toThrow('max');
  });
});
