import { attach } from '@h/claude-agent-sdk';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { security } from '@h/security';
import { tools } from '@h/tools';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bash, calls, canRun, Claude } from '../../../packages/claude-agent-sdk/test/claude.js';

describe.skipIf(!canRun)('operators in Claude Code', { timeout: 60_000 }, () => {
  let claude: Claude;
  beforeEach(async () => {
    claude = await Claude.start();
  });
  afterEach(() => claude.stop());

  it('denies, redacts, cuts and breaks a loop in one session', async () => {
    const key = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
    const file = join(claude.folder, 'key.txt');
    writeFileSync(file, `key: ${key}\n`);
    const { options } = attach(
      hooks([destructiveCommands()]),
      guardrails({ maxSteps: 40, maxToolCalls: 60 }),
      loopDetect(),
      tools({ contextWindow: 200_000, maxChars: 2000 }),
      security(),
    );
    // The call that repeats is not the first one of its answer.
    const again = Array.from({ length: 30 }, (_, index) =>
      calls(bash(`other-${index}`, `echo ${index % 2}`), bash(`again-${index}`, 'cat missing || echo same')),
    );
    const run = await claude.run(
      [
        calls(bash('denied', `rm -rf ${claude.folder}/* /`), ['read', 'Read', { file_path: file }]),
        calls(bash('long', 'seq 1 4000')),
        ...again,
      ],
      options,
    );
    expect(run.error).toBeUndefined();
    expect(run.results['denied']).toMatch(/rm/);
    expect(existsSync(file)).toBe(true);
    expect(run.results['read']).toContain('key:');
    expect(run.lastRequest).not.toContain(key);
    expect(run.results['long']?.length).toBeLessThan(3000);
    expect(run.lastRequest).toContain('Not run.');
    expect(run.requests).toBeLessThan(20);
  });
});
