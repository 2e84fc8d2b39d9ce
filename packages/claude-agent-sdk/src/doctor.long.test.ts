import { intercept, type TurnEvent } from '@h/turn';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canRun } from '../test/claude.js';
import { doctored } from '../test/doctored.js';
import { spy } from '../test/operators.js';
import { attach } from './index.js';

describe.skipIf(!canRun)('doctor of Claude Code, in more sessions', { timeout: 60_000 }, () => {
  const { folder, seen } = doctored();

  it('passes options with the hooks, in the session and in sub-agents, and stores no session', async () => {
    const events: TurnEvent[] = [];
    const { options, forget } = attach(spy(events));
    expect(await seen(options, forget)).toBeUndefined();
    const denied = events.filter((event) => event.type === 'tool.result' && event.status === 'denied');
    expect(denied).toHaveLength(2);
    expect(readdirSync(folder(), { recursive: true }).filter((file) => String(file).endsWith('.jsonl'))).toEqual([]);
  });

  it('checks the sub-agents of the options, also those with a list of tools', async () => {
    const events: TurnEvent[] = [];
    const agents = { helper: { description: 'Helps.', prompt: 'Help.', tools: ['Read'] } };
    expect(await seen({ ...attach(spy(events)).options, agents })).toBeUndefined();
    expect(events.filter((event) => event.type === 'turn.start' && event.trigger === 'subagent')).toHaveLength(2);
  });

  it('fails if a hook is missing', async () => {
    const { PreToolUse: _, ...hooks } = attach(intercept('none', () => ({}))).options.hooks;
    expect(await seen({ hooks, tools: [] })).toEqual([['session', 'ran']]);
  });

  it('fails if Claude Code does not start', async () => {
    const options = {
      ...attach(intercept('none', () => ({}))).options,
      pathToClaudeCodeExecutable: join(folder(), 'none'),
    };
    expect(await seen({ ...options, tools: [] })).toEqual([['session', 'failed']]);
  });
});
