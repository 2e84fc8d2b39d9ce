import { event, ok, request, user } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paletteFor } from '../render/palette.js';
import { Screen } from './screen.js';
import { TerminalView } from './terminal-view.js';

const palette = paletteFor({ isTerminal: false, environment: {} });

const open = () => {
  let written = '';
  const screen = new Screen({ columns: 80, write: (text: string) => (written += text) });
  const view = new TerminalView({ screen, palette, now: Date.now });
  /** Returns the output since the previous call. */
  const news = (): string => {
    const result = written;
    written = '';
    return result;
  };
  return { view, news };
};

const asked = event('model.request', { step: 1, attempt: 1, ...request() });
const result = event('tool.result', { step: 1, call: { id: '1', name: 'ls', input: {} }, ...ok('') });

describe('TerminalView', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs the spinner only while the turn is active', () => {
    const { view, news } = open();
    view.event(asked);
    news();
    vi.advanceTimersByTime(300);
    expect(news()).toContain('Waiting for the model · 0.3 s');
    view.event(
      event('turn.end', {
        outcome: 'completed',
        steps: 1,
        usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
      }),
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stops the spinner when it is closed during a turn', () => {
    const { view } = open();
    view.event(asked);
    view.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shows messages until the model receives them', () => {
    const { view, news } = open();
    view.event(asked);
    view.event(event('input.received', { id: 'i', message: user('Only the tests') }));
    expect(news()).toContain('› Only the tests (delivered at the next step)');
    view.event(event('history.append', { origin: 'steering', messages: [user('Only the tests')], delivers: ['i'] }));
    news();
    vi.advanceTimersByTime(100);
    expect(news()).not.toContain('Only the tests');
  });

  it('defers output while a question uses the terminal', () => {
    const { view, news } = open();
    view.event(asked);
    view.hold(true);
    news();
    view.event(result);
    view.say(['a note']);
    vi.advanceTimersByTime(500);
    expect(news()).not.toMatch(/ls|note|Waiting/);
    view.hold(false);
    expect(news()).toMatch(/✓ ls[^]*a note[^]*Waiting/);
  });

  it('shows deferred output when it is closed', () => {
    const { view, news } = open();
    view.hold(true);
    view.event(result);
    view.close();
    expect(news()).toContain('✓ ls');
  });
});
