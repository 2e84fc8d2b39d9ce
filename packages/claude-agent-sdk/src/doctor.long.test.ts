import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { intercept, type TurnEvent } from '@h/turn';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canRun, claudeEnv } from '../test/claude.js';
import { spy } from '../test/operators.js';
import { doctor, DoctorError } from './doctor.js';
import { attach } from './index.js';

describe.skipIf(!canRun)('doctor of Claude Code, in more sessions', { timeout: 60_000 }, () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'h-doctor-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const base = (): Options => ({ cwd: folder, env: claudeEnv(folder), settingSources: [] });
  const seen = async (options: Options, forget?: (id: string) => void): Promise<unknown> => {
    const error: unknown = await doctor({ options: { ...base(), ...options }, forget, timeoutMs: 50_000 }).catch(
      (thrown: unknown) => thrown,
    );
    return error instanceof DoctorError ? error.findings.map(({ path, seen: what }) => [path, what]) : error;
  };

  it('passes options with the hooks, in the session and in sub-agents, and stores no session', async () => {
    const events: TurnEvent[] = [];
    const { options, forget } = attach(spy(events));
    expect(await seen(options, forget)).toBeUndefined();
    const denied = events.filter((event) => event.type === 'tool.result' && event.status === 'denied');
    expect(denied).toHaveLength(2);
    expect(readdirSync(folder, { recursive: true }).filter((file) => String(file).endsWith('.jsonl'))).toEqual([]);
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
      pathToClaudeCodeExecutable: join(folder, 'none'),
    };
    expect(await seen({ ...options, tools: [] })).toEqual([['session', 'failed']]);
  });
});
