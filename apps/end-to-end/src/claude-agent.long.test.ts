import { attach } from '@h/claude-agent-sdk';
import { guardrails } from '@h/guardrails';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bash, calls, canRun, Claude } from '../../../packages/claude-agent-sdk/test/claude.js';

describe.skipIf(!canRun)('limits in Claude Code', { timeout: 60_000 }, () => {
  let claude: Claude;
  beforeEach(async () => {
    claude = await Claude.start();
  });
  afterEach(() => claude.stop());

  it('stops at the limits on steps and tool calls', async () => {
    const { options } = attach(guardrails({ maxSteps: 3, maxToolCalls: 2 }));
    const run = await claude.run(
      [1, 2, 3, 4, 5].map((step) => calls(bash(`a${step}`, 'echo x'), bash(`b${step}`, 'echo y'))),
      options,
    );
    expect(run.requests).toBe(3);
    expect(run.results['b2']).toContain('tool calls');
  });
});
