import type { ToolCallPart, TurnEvent } from '@h/turn';
import { call, event, failure, ok, request, response, sampleTurn, usage, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { paletteFor } from '../render/palette.js';
import { plainView } from './plain-view.js';

const palette = paletteFor({ isTerminal: false, environment: {} });

const shown = (events: readonly TurnEvent[]): readonly string[] => {
  let written = '';
  const view = plainView((text) => (written += text), palette);
  for (const shownEvent of events) view.event(shownEvent);
  view.close();
  expect(written === '' || written.endsWith('\n')).toBe(true);
  return written.split('\n').slice(0, -1);
};

const asked = event('model.request', { step: 1, attempt: 1, ...request() });
const said = (text: string): TurnEvent => event('model.delta', { step: 1, attempt: 1, delta: { type: 'text', text } });
const answered = (...parts: readonly (string | ToolCallPart)[]): TurnEvent =>
  event('model.response', { step: 1, attempt: 1, ...response(...parts) });

describe('the plain view', () => {
  it('shows a whole turn', () => {
    expect(shown(sampleTurn())).toEqual([
      'Let me look.',
      '? May I look? · ls .',
      '✓ ls . · 500 ms',
      '',
      '› Only text files.',
      '',
      'One file.',
      '',
      '✓ completed',
      '  2 steps · 1 tool call · tokens: 20 in, 0 cached, 10 out · 2.5 s',
      '  files changed: none',
    ]);
  });

  it('shows the whole call that a question is about', () => {
    const input = { command: 'ls # all files\nrm -rf /srv' };
    const request = { id: 'q', reason: 'May I?', call: { id: '1', name: 'bash', input } };
    expect(shown([event('approval.request', request)])).toEqual([
      '? May I? · bash ls # all files rm -rf /srv',
      '    command: ls # all files',
      '      rm -rf /srv',
    ]);
  });

  it('writes text line by line, without control characters', () => {
    expect(shown([asked, said('\n\none'), said(' two\nth'), said('ree\u001B[2J'), answered('…')])).toEqual([
      'one two',
      'three[2J',
    ]);
  });

  it('writes the answer of a model without streaming', () => {
    expect(shown([asked, answered('All at once.\nReally.')])).toEqual(['All at once.', 'Really.']);
  });

  it('writes nothing for an answer without text', () => {
    expect(shown([asked, answered(call('1', 'ls'))])).toEqual([]);
  });

  it('shows the diff of an edit below its call', () => {
    const edit = { id: '1', name: 'edit', input: { path: 'a.js', old: 'x', new: 'y' } };
    const details = { kind: 'edit', path: 'a.js', diff: '@@ -1 +1 @@\n-x\n+y\n', additions: 1, deletions: 1 };
    const events = [
      event('tool.call', { step: 1, index: 0, call: edit }, { at: 5 }),
      event('tool.result', { step: 1, call: edit, ...ok('Edited.'), details }, { at: 12 }),
    ];
    expect(shown(events)).toEqual(['✓ edit a.js · 7 ms', '    1 - x', '    1 + y']);
  });

  it('prefers the duration that the tool reports', () => {
    const ls = { id: '1', name: 'ls', input: {} };
    const events = [
      event('tool.call', { step: 1, index: 0, call: ls }, { at: 5 }),
      event('tool.result', { step: 1, call: ls, ...ok(''), durationMs: 3 }, { at: 900 }),
    ];
    expect(shown(events)).toEqual(['✓ ls · 3 ms']);
  });

  it('shows errors that are retried', () => {
    const failed = (retrying?: boolean): TurnEvent =>
      event('model.error', {
        step: 1,
        attempt: 1,
        error: failure('overloaded\nnow'),
        ...(retrying !== undefined && { retrying }),
      });
    expect(shown([asked, said('Half a'), failed(true), failed()])).toEqual(['Half a', '! overloaded now']);
  });

  it('reports a truncated or withheld answer', () => {
    const cut = (finishReason: 'length' | 'content-filter'): TurnEvent =>
      event('model.response', { step: 1, attempt: 1, ...response('Half'), finishReason });
    expect(shown([asked, cut('length')])).toEqual(['Half', '! The answer was truncated: it reached the output limit.']);
    expect(shown([asked, cut('content-filter')])).toEqual([
      'Half',
      '! The content filter of the provider withheld the answer.',
    ]);
  });

  it('resets the tally with each turn', () => {
    const start = event('turn.start', { session: 's', input: [user('Hi')], trigger: 'user' });
    const end = event('turn.end', { outcome: 'completed', steps: 1, usage: usage() });
    const result = event('tool.result', { step: 1, call: { id: '1', name: 'ls', input: {} }, ...ok('') });
    expect(shown([start, result, end, start, end]).filter((line) => line.includes('tool call'))).toEqual([
      '  1 step · 1 tool call · tokens: 10 in, 0 cached, 5 out · 0 ms',
      '  1 step · 0 tool calls · tokens: 10 in, 0 cached, 5 out · 0 ms',
    ]);
  });

  it('writes other lines between events', () => {
    let written = '';
    const view = plainView((text) => (written += text), palette);
    view.event(said('unfinished'));
    view.say(['note']);
    expect(written).toBe('unfinished\nnote\n');
  });
});
