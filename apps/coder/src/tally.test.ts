import { event, failure, ok, usage } from '@h/turn/testing';
import type { JSONValue, TurnEvent } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { noTally, tallied } from './tally.js';

const result = (details?: JSONValue): TurnEvent =>
  event('tool.result', {
    step: 1,
    call: { id: '1', name: 'edit', input: {} },
    ...ok(''),
    ...(details !== undefined && { details }),
  });

const change = (path: string, additions: number, deletions: number): JSONValue => ({
  kind: 'edit',
  path,
  diff: '@@',
  additions,
  deletions,
});

const tallyOf = (...events: readonly TurnEvent[]) => events.reduce(tallied, noTally);

describe('tallied', () => {
  it('counts tool calls and failures', () => {
    const failed = event('tool.result', {
      step: 1,
      call: { id: '2', name: 'bash', input: {} },
      status: 'failed',
      error: failure('x'),
      output: { type: 'text', value: '' },
    });
    expect(tallyOf(result(), failed, result())).toMatchObject({ toolCalls: 3, troubled: 1 });
  });

  it('adds up the changes per file', () => {
    const { files } = tallyOf(
      result(change('a.js', 2, 1)),
      result(change('b.js', 5, 0)),
      result(),
      result(change('a.js', 1, 3)),
    );
    expect([...files]).toEqual([
      ['a.js', { additions: 3, deletions: 4 }],
      ['b.js', { additions: 5, deletions: 0 }],
    ]);
  });

  it('adds the changes that git reports', () => {
    const changes = event('git.changes', {
      files: [
        { path: 'sub/a.js', change: 'modified' },
        { path: 'new.js', change: 'added' },
      ],
      count: 2,
      mixed: [],
    });
    expect([...tallyOf(result(change('a.js', 2, 1)), changes).files]).toEqual([
      ['a.js', { additions: 2, deletions: 1 }],
      ['new.js', { change: 'added' }],
    ]);
  });

  it('stores the start time and the end event', () => {
    const start = event('turn.start', { session: 's', input: [], trigger: 'user' }, { at: 5 });
    const end = event('turn.end', { outcome: 'completed', steps: 2, usage: usage() }, { at: 9 });
    expect(tallyOf(start, end)).toMatchObject({ startedAt: 5, end });
  });

  it('does not modify its arguments', () => {
    const before = tallyOf(result(change('a.js', 1, 1)));
    tallied(before, result(change('a.js', 1, 1)));
    expect(before.files.get('a.js')).toEqual({ additions: 1, deletions: 1 });
  });
});
