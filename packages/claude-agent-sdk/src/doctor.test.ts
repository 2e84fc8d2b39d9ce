import { intercept } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { canRun } from '../test/claude.js';
import { doctored } from '../test/doctored.js';
import { attach } from './index.js';

describe.skipIf(!canRun)('doctor of Claude Code', { timeout: 60_000 }, () => {
  const { seen } = doctored();

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
