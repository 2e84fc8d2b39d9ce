import { event, request, sampleTurn, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { jsonView } from './json-view.js';

const view = () => {
  const written = { events: '', notes: '' };
  const shown = jsonView(
    (text) => (written.events += text),
    (text) => (written.notes += text),
  );
  return { shown, written };
};

describe('the JSON view', () => {
  it('writes one line per event', () => {
    const { shown, written } = view();
    for (const given of sampleTurn()) shown.event(given);
    shown.close();
    const lines = written.events
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual(sampleTurn().map(({ type }) => type));
  });

  it('replaces the history and the tools of a request with counts and names', () => {
    const { shown, written } = view();
    const tools = [{ name: 'ls', description: 'Lists.', inputSchema: { type: 'object' } }];
    shown.event(
      event('model.request', { step: 1, attempt: 1, ...request({ messages: [user('a'), user('b')], tools }) }),
    );
    expect(JSON.parse(written.events)).toEqual({
      type: 'model.request',
      turn: 'turn-1',
      at: 0,
      step: 1,
      attempt: 1,
      system: [],
      tail: [],
      settings: {},
      messages: 2,
      tools: ['ls'],
    });
  });

  it('writes bytes as base64', () => {
    const { shown, written } = view();
    const content = [{ type: 'file', data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' }] as const;
    shown.event(event('history.append', { origin: 'input', messages: [{ role: 'user', content }] }));
    expect(written.events).toContain('"data":"AQID"');
  });

  it('writes other lines to the other output', () => {
    const { shown, written } = view();
    shown.say(['one', 'two']);
    expect(written).toEqual({ events: '', notes: 'one\ntwo\n' });
  });
});
