import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { intercept } from '@h/turn';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canRun, claudeEnv } from '../test/claude.js';
import { doctor, DoctorError } from './doctor.js';
import { attach } from './index.js';

describe.skipIf(!canRun)('doctor of Claude Code', { timeout: 60_000 }, () => {
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

  it('passes a session with the hooks, and fails if they are skipped in its sub-agents', async () => {
    const { hooks } = attach(intercept('none', () => ({}))).options;
    const PreToolUse = (hooks.PreToolUse ?? []).map((matcher) => ({
      ...matcher,
      hooks: matcher.hooks.map(
        (hook): typeof hook =>
          async (input, ...rest) =>
            'agent_id' in input ? {} : hook(input, ...rest),
      ),
    }));
    expect(await seen({ hooks: { ...hooks, PreToolUse } })).toEqual([['sub-agent general-purpose', 'ran']]);
  });
});
