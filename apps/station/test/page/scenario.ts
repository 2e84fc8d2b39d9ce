import type { StationApproval, StationEntry, StationTrace } from '../../src/api/contract.js';
import { isoDay } from '../../src/page/state/usage-chart.js';
import { blankSession, type FixtureStation } from './fixture-station.js';

/** A station on an ordinary afternoon, for the tests of every view and for pictures. */

const minute = 60_000;
const used = (input: number, output: number, cost: number | null) => ({
  inputTokens: input,
  outputTokens: output,
  cachedInputTokens: Math.round(input * 0.7),
  cost,
});

export const text = (value: string) => ({ type: 'text' as const, text: value });
export const tool = (
  call: string,
  name: string,
  input: StationEntry['parts'][number] extends infer Part
    ? Part extends { input: infer Input }
      ? Input
      : never
    : never,
  values: Partial<Extract<StationEntry['parts'][number], { type: 'tool' }>> = {},
) => ({
  type: 'tool' as const,
  call,
  name,
  input,
  status: 'ok' as const,
  output: 'done',
  isTruncated: false,
  durationMs: 120,
  artifact: null,
  ...values,
});
export const entry = (
  index: number,
  role: StationEntry['role'],
  parts: StationEntry['parts'],
  at: number | null = null,
  turn = 't-1',
): StationEntry => ({ index, role, turn, at, parts });

export const approvalOf = (id: string, session: string, values: Partial<StationApproval> = {}): StationApproval => ({
  id,
  session,
  run: null,
  turn: 't-1',
  agent: 'coder',
  reason: 'The command deletes files that are not tracked by git.',
  call: {
    id: `call-${id}`,
    name: 'bash',
    input: { command: 'rm -rf build/cache && npm run build' },
    hash: `hash-${id}`,
  },
  requestedAt: Date.now(),
  expiresAt: null,
  state: 'open',
  decidedBy: null,
  decidedAt: null,
  ...values,
});

const answer = `The test failed because \`retryDelay\` used the **first** attempt's delay for every retry. I changed two things:

1. \`backoff.ts\` now computes the delay from the attempt.
2. The test uses virtual time, so it no longer depends on the machine.

| attempt | before | after |
|---|--:|--:|
| 1 | 200 ms | 200 ms |
| 2 | 200 ms | 400 ms |
| 3 | 200 ms | 800 ms |

\`\`\`ts
const delayOf = (attempt: number): number => Math.min(30_000, base * 2 ** (attempt - 1));
\`\`\`

All 214 tests pass. See [the documentation of the option](https://example.com/backoff) for the limits.`;

const patch = `diff --git a/src/backoff.ts b/src/backoff.ts
--- a/src/backoff.ts
+++ b/src/backoff.ts
@@ -8,7 +8,7 @@ export const backoff = (base: number) => {
   const limit = 30_000;
   return {
-    delay: () => base,
+    delay: (attempt: number) => Math.min(limit, base * 2 ** (attempt - 1)),
     reset() {
       attempts = 0;
     },
`;

/** Three bars: a picture of 320 by 120 pixels. */
export const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAUAAAAB4CAIAAAAMrLyJAAACBklEQVR42u3dMQ0AIRREQQRgDwuniwqNhOoEIIAsTPIULH9qylpTUmjFBBLAkgCWBLAEsCSApa36tbgAlgAGWAADDLAABlgCGGABDDDAAhhgCWCAJYABFsAAAyyAAZYABlgCGGABDDDAAhhgCWCABTDAAAtggCWAAZYABlgAAwywAAZYAhhgAQwwwAIYYAlggCWAARbAAAMsgAGWAAZYAhhgAQwwwAIYYAlggAUwwAALYIAlgAGWAAZYAAMMsAAGWAIYYAlggAUwwAALYIAlgAEWwAADLIABlgAGWAIYYAEMMMACGGAJYICd7Osnaw2AAQYYYIABBhhgOVlrAAwwwAADDDDAAMvJWgNgOVlrAAwwwAADDDDAAMvJWgNggAG2BsAAAwywAAYYYDlZawAMMMAAAwwwwADLyVoDYDlZawAMMMAAAwwwwADLyVoDYIABBhhggAEGWE4WYIDlZK2RD9gjWcMaADtZawAMsJO1BsAeyRrWANjJWsMaADtZawDskZysNQD2SNawBsBO1hoAA+xkrQGwR7KGNQD2SNawBsBO1hoAA+xkrQGwR7KGNQB2stawBsBO1hoAeyQnaw2APZI1rAGwk7UGwAA7WWsA7JGsYQ2Anaw1rAGwk7UGwAA7WWsA7JGsYY3TgPvokkLzN5IUHMASwJIAlgSwBLAkgCUBLAlg6a5+vrmacNosRoMAAAAASUVORK5CYII=',
  'base64',
);

export const fillStation = (station: FixtureStation, now: number): void => {
  const ago = (minutes: number): number => now - minutes * minute;
  station.agents = [
    { name: 'coder', description: 'Changes code, runs its tests and commits.', model: 'anthropic/claude-sonnet-4-6' },
    { name: 'reviewer', description: 'Reads a change and comments on it. It cannot write.', model: 'openai/gpt-5.2' },
    { name: 'refactorer', description: 'Works unattended in its own branch.', model: 'google/gemini-3-pro' },
  ];
  station.artifacts.set('chart', { type: 'image/png', data: picture });

  const fix: StationEntry[] = [
    entry(0, 'user', [text('The retry test fails on the build machine. Find out why and fix it.')], ago(14)),
    entry(
      1,
      'assistant',
      [
        {
          type: 'reasoning',
          text: 'The test name mentions the delay. I read the test first, then the code that it calls.',
        },
        text('I read the failing test and what it calls.'),
        tool(
          'c1',
          'read',
          { path: 'src/backoff.test.ts' },
          { output: "it('waits longer after each failure', async () => {\n  …\n});", durationMs: 14 },
        ),
        tool(
          'c2',
          'grep',
          { pattern: 'retryDelay', path: 'src' },
          {
            output: 'src/backoff.ts:12:  retryDelay: () => base,\nsrc/http.ts:40:    await sleep(retryDelay());',
            durationMs: 31,
          },
        ),
      ],
      ago(14),
    ),
    entry(
      2,
      'assistant',
      [
        tool(
          'c3',
          'edit',
          {
            path: 'src/backoff.ts',
            old_string: '    delay: () => base,',
            new_string: '    delay: (attempt: number) =>\n      Math.min(limit, base * 2 ** (attempt - 1)),',
          },
          { output: 'Replaced 1 occurrence.', durationMs: 22 },
        ),
        tool(
          'c4',
          'bash',
          { command: 'npx vitest run src/backoff.test.ts' },
          {
            output:
              ' RUN  v4.1.12\n\n ✓ src/backoff.test.ts (9 tests) 41ms\n\n Test Files  1 passed (1)\n      Tests  9 passed (9)',
            durationMs: 3120,
          },
        ),
        tool('c5', 'bash', { command: 'git diff' }, { output: patch, durationMs: 18 }),
      ],
      ago(13),
    ),
    entry(
      3,
      'assistant',
      [text(answer), { type: 'file', mediaType: 'image/png', name: 'delays.png', artifact: 'chart' }],
      ago(13),
    ),
    entry(4, 'user', [text('Good. Clear the build cache and build once more.')], ago(1), 't-2'),
    entry(
      5,
      'assistant',
      [
        text('I clear the cache and build.'),
        tool(
          'call-a1',
          'bash',
          { command: 'rm -rf build/cache && npm run build', timeoutMs: 120_000 },
          { status: 'waiting', output: null, durationMs: null },
        ),
      ],
      ago(1),
      't-2',
    ),
  ];
  station.add(
    blankSession('fix', {
      title: 'Fix the retry test',
      state: 'waiting-for-input',
      turn: 't-2',
      openApprovals: 1,
      updatedAt: ago(1),
      usage: used(48_200, 2900, 0.21),
    }),
    fix,
  );
  station.setApproval(
    approvalOf('a1', 'fix', {
      turn: 't-2',
      requestedAt: ago(1),
      expiresAt: now + 9 * minute,
      call: {
        id: 'call-a1',
        name: 'bash',
        input: { command: 'rm -rf build/cache && npm run build', timeoutMs: 120_000 },
        hash: 'hash-a1',
      },
    }),
  );
  station.setApproval(
    approvalOf('a2', 'deploy', {
      agent: 'refactorer',
      reason: 'The file is outside of the working folder.',
      requestedAt: ago(4),
      call: {
        id: 'c9',
        name: 'write',
        input: { path: '/etc/hosts', content: '127.0.0.1 localhost\n127.0.0.1 api.example.com\n' },
        hash: 'h2',
      },
    }),
  );
  station.setApproval(
    approvalOf('a3', 'docs', {
      state: 'denied',
      decidedBy: 'ada',
      decidedAt: ago(22),
      call: { id: 'c10', name: 'bash', input: { command: 'git push --force origin main' }, hash: 'h3' },
    }),
  );
  station.setApproval(
    approvalOf('a4', 'review', {
      state: 'approved',
      decidedBy: 'grace',
      decidedAt: ago(40),
      call: { id: 'c11', name: 'bash', input: { command: 'npm install --save-exact zod@4.6.7' }, hash: 'h4' },
    }),
  );

  station.add(
    blankSession('deploy', {
      title: 'Move the API to the new host',
      agent: 'refactorer',
      state: 'waiting-for-input',
      turn: 't-1',
      openApprovals: 1,
      updatedAt: ago(4),
      usage: used(120_400, 9100, 0.74),
    }),
  );
  station.add(
    blankSession('review', {
      title: 'Review #418: streaming uploads',
      agent: 'reviewer',
      state: 'running',
      turn: 't-1',
      updatedAt: ago(0.1),
      usage: used(31_000, 1200, 0.09),
    }),
  );
  station.add(
    blankSession('audit', {
      title: 'Audit the dependencies',
      agent: 'reviewer',
      state: 'running',
      turn: 't-1',
      updatedAt: ago(0.5),
      usage: used(9400, 800, 0.03),
    }),
  );
  station.add(
    blankSession('migrate', {
      title: 'Migrate the tests to vitest 4',
      agent: 'refactorer',
      state: 'queued',
      updatedAt: ago(0.4),
      usage: used(0, 0, 0),
    }),
  );
  station.add(
    blankSession('docs', {
      title: 'Rewrite the quick start',
      state: 'idle',
      outcome: 'completed',
      updatedAt: ago(22),
      usage: used(61_000, 5400, 0.31),
    }),
  );
  station.add(
    blankSession('loop', {
      title: 'Why is the cache cold after a deployment?',
      state: 'idle',
      outcome: 'loop-detected',
      reason: 'read was called 12 times with the same input.',
      updatedAt: ago(95),
      usage: used(210_000, 3300, 0.88),
    }),
  );
  station.add(
    blankSession('over', {
      title: 'Port the parser',
      agent: 'refactorer',
      state: 'failed',
      outcome: 'error',
      reason: 'All models are in cooldown.',
      updatedAt: ago(60 * 7),
      usage: used(15_000, 400, null),
    }),
  );
  station.add(
    blankSession('old', {
      title: 'نص عربي مع English وكلمات',
      agent: 'reviewer',
      state: 'idle',
      outcome: 'completed',
      updatedAt: ago(60 * 30),
      usage: used(4200, 300, 0.012),
    }),
  );

  station.setLanes({
    capacity: 4,
    running: [
      { session: 'fix', turn: 't-2', since: ago(1), worker: 'worker-1' },
      { session: 'review', turn: 't-1', since: ago(2.3), worker: 'worker-2' },
      { session: 'audit', turn: 't-1', since: ago(0.6), worker: 'worker-1' },
      { session: 'deploy', turn: 't-1', since: ago(5), worker: 'worker-2' },
    ],
    waiting: [
      { session: 'migrate', since: ago(0.4), priority: 'normal', waitsFor: 'slot', position: 1 },
      { session: 'fix', since: ago(0.3), priority: 'foreground', waitsFor: 'session', position: 1 },
    ],
  });
  station.traces.set('fix', tracesOf(now));
  station.audit = [
    { at: ago(22), actor: 'ada', action: 'approval.decide', target: 'a3', detail: { decision: 'deny', hash: 'h' } },
    { at: ago(40), actor: 'grace', action: 'approval.decide', target: 'a4', detail: { decision: 'once', hash: 'h' } },
    { at: ago(55), actor: 'grace', action: 'session.create', target: 'review', detail: { agent: 'reviewer' } },
    { at: ago(70), actor: 'link of ada', action: 'approval.decide', target: '9f86d081884c7d65', detail: null },
    { at: ago(90), actor: 'ada', action: 'run.start', target: 'b94d27b9934d3e08', detail: null },
  ];
  fillUsage(station, now);
  fillWorkflows(station, now);
};

const tracesOf = (now: number): StationTrace[] => {
  const bar = (
    id: string,
    parent: string | null,
    kind: StationTrace['bars'][number]['kind'],
    label: string,
    startMs: number,
    endMs: number | null,
    usage: StationTrace['usage'] | null = null,
    isFailed = false,
  ) => ({ id, parent, kind, label, startMs, endMs, usage, isFailed });
  return [
    {
      turn: 't-1',
      startedAt: now - 14 * minute,
      outcome: 'completed',
      usage: used(46_000, 2700, 0.19),
      bars: [
        bar('t', null, 'turn', 'Fix the retry test', 0, 41_200),
        bar('w', 't', 'wait', 'slot', 0, 1900),
        bar('s1', 't', 'step', '1', 1900, 14_800),
        bar('m0', 's1', 'model', 'anthropic/claude-sonnet-4-6', 1900, 5200, used(9000, 0, 0), true),
        bar('m1', 's1', 'model', 'openai/gpt-5.2', 5600, 13_900, used(9200, 640, 0.05)),
        bar('c1', 's1', 'tool', 'read src/backoff.test.ts', 13_950, 14_100),
        bar('c2', 's1', 'tool', 'grep retryDelay', 13_950, 14_700),
        bar('s2', 't', 'step', '2', 14_800, 29_000),
        bar('m2', 's2', 'model', 'openai/gpt-5.2', 17_300, 25_100, used(17_400, 900, 0.07)),
        bar('c3', 's2', 'tool', 'edit src/backoff.ts', 25_200, 25_400),
        bar('c4', 's2', 'tool', 'bash npx vitest run', 25_200, 28_900),
        bar('s3', 't', 'step', '3', 29_000, 41_200),
        bar('m3', 's3', 'model', 'openai/gpt-5.2', 29_100, 41_100, used(19_400, 1160, 0.07)),
      ],
      marks: [
        {
          atMs: 5300,
          kind: 'failover',
          label: 'Switched from anthropic/claude-sonnet-4-6 to openai/gpt-5.2: overloaded',
        },
        { atMs: 16_200, kind: 'compaction', label: 'Compacted from 161k to 42k tokens' },
        { atMs: 28_950, kind: 'budget', label: '80% of the budget of this turn is used up' },
      ],
    },
    {
      turn: 't-2',
      startedAt: now - minute,
      outcome: null,
      usage: used(2200, 200, 0.02),
      bars: [
        bar('t', null, 'turn', 'Clear the cache', 0, null),
        bar('s1', 't', 'step', '1', 40, null),
        bar('m1', 's1', 'model', 'openai/gpt-5.2', 60, 7300, used(2200, 200, 0.02)),
        bar('a', 's1', 'wait', 'approval', 7400, null),
      ],
      marks: [{ atMs: 7400, kind: 'approval', label: 'rm -rf build/cache && npm run build' }],
    },
  ];
};

const fillUsage = (station: FixtureStation, now: number): void => {
  const agents = [
    ['coder', 'anthropic/claude-sonnet-4-6', 4.2],
    ['refactorer', 'google/gemini-3-pro', 2.6],
    ['reviewer', 'openai/gpt-5.2', 1.3],
  ] as const;
  station.usage = {
    days: Array.from({ length: 30 }, (_, day) =>
      agents.flatMap(([agent, model, base], index) => {
        const weight = (1 + Math.sin(day * 1.7 + index)) * (day % 7 < 5 ? 1 : 0.15);
        return weight < 0.05
          ? []
          : [
              {
                day: isoDay(now - day * 24 * 60 * minute),
                agent,
                model,
                turns: Math.round(weight * 40),
                usage: used(
                  Math.round(weight * 900_000),
                  Math.round(weight * 40_000),
                  Math.round(base * weight * 100) / 100,
                ),
              },
            ];
      }),
    ).flat(),
  };
};

const fillWorkflows = (station: FixtureStation, now: number): void => {
  station.workflows = [
    {
      id: 'release',
      name: 'Release',
      description: 'Reviews the branch from two sides, asks a person, publishes, and waits for the first reports.',
      states: [
        { name: 'plan', type: 'agent', next: ['checks'] },
        { name: 'checks', type: 'parallel', next: ['review', 'security'] },
        { name: 'review', type: 'agent', next: ['decide'] },
        { name: 'security', type: 'agent', next: ['decide'] },
        { name: 'decide', type: 'approval', next: ['publish', 'plan'] },
        { name: 'publish', type: 'agent', next: ['watch'] },
        { name: 'watch', type: 'wait', next: ['end'] },
      ],
    },
    {
      id: 'nightly',
      name: 'Nightly cleanup',
      description: 'Removes unused branches.',
      states: [{ name: 'clean', type: 'agent', next: ['end'] }],
    },
  ];
  const at = (minutes: number): number => now - minutes * minute;
  const step = (
    state: string,
    status: 'running' | 'waiting' | 'completed' | 'failed',
    from: number,
    to: number | null,
    values: object = {},
  ) => ({
    state,
    attempt: 1,
    status,
    startedAt: at(from),
    endedAt: to === null ? null : at(to),
    session: null,
    approval: null,
    output: null,
    error: null,
    ...values,
  });
  station.setRun({
    id: 'run-7',
    workflow: 'release',
    state: 'waiting',
    startedAt: at(18),
    endedAt: null,
    error: null,
    steps: [
      step('plan', 'completed', 18, 15, { session: 'docs', output: { version: '2.4.0', changes: 17 } }),
      step('checks', 'completed', 15, 14.9),
      step('review', 'completed', 14.9, 9, { session: 'review', output: 'No objections. Two comments are minor.' }),
      step('security', 'completed', 14.9, 7, { attempt: 2, session: 'audit', output: { findings: 0 } }),
      step('decide', 'waiting', 7, null, { approval: 'a5' }),
    ],
  });
  station.setRun({
    id: 'run-6',
    workflow: 'release',
    state: 'completed',
    startedAt: at(60 * 26),
    endedAt: at(60 * 25),
    error: null,
    steps: [step('plan', 'completed', 60 * 26, 60 * 25.5)],
  });
  station.setRun({
    id: 'run-5',
    workflow: 'release',
    state: 'failed',
    startedAt: at(60 * 50),
    endedAt: at(60 * 49.8),
    error: 'The agent of state "publish" stopped at its budget.',
    steps: [step('publish', 'failed', 60 * 50, 60 * 49.8)],
  });
};
