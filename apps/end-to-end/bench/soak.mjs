/**
 * Runs thousands of turns through a complete pipeline in one process, to find leaks and slowdowns of a long-lived process.
 * Prints the time per turn and the heap size after every tenth of the turns. Requires a build.
 *
 * node --expose-gc bench/soak.mjs [turns] [sessions]
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compaction } from '@h/compaction';
import { failover } from '@h/failover';
import { createBudget, guardrails } from '@h/guardrails';
import { hooks, memoryApprovalStore } from '@h/hooks';
import { approvals, destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { callbackSink, createUsageMeter, observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { createLanes, queue } from '@h/queue';
import { createInbox } from '@h/queue/inbox';
import { createRedactor } from '@h/redact';
import { security } from '@h/security';
import { fileSessions } from '@h/session';
import { subagents, unrestricted } from '@h/subagents';
import { createRegistry, defineTool, fileArtifacts, toolDriver, tools } from '@h/tools';
import { harness, repairHistory } from '@h/turn';
import { call, failure, response, usage } from '@h/turn/testing';

const [turnCount = 2000, sessionCount = 20] = process.argv.slice(2).map(Number);
const sideBySide = 20;

let seed = 42;
const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
const words = (count) => Array.from({ length: count }, () => `word${Math.floor(random() * 1000)}`).join(' ');
let ids = 0;
const callOf = (name, input) => call(`call-${(ids += 1)}`, name, input);

/** Fails at random, calls known and unknown tools, spawns sub-agents, and ends each turn after six steps. */
const model = ({ settings }, { session, step }) => {
  const chance = random();
  const answering = (...parts) => [{ type: 'response', response: { ...response(...parts), usage: usage(100, 20) } }];
  if (chance < 0.02) return [{ type: 'error', error: failure('Internal server error', { status: 500 }) }];
  if (step >= 6 || settings.toolChoice === 'none' || chance < 0.2) return answering(words(40));
  if (!session.startsWith('subagent-') && chance < 0.24) {
    return answering(callOf('spawn', { agent: 'explore', task: words(5) }), callOf('wait', {}));
  }
  return answering(
    words(10),
    ...Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      callOf(random() < 0.1 ? 'missing' : 'read', { path: `${words(1)}/${ids}` }),
    ),
  );
};

const read = defineTool({
  name: 'read',
  description: 'Reads a file. Fails for one file in ten, and returns a long text for some.',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  effect: 'read-only',
  run: ({ path }) => {
    if (path.endsWith('7')) throw new Error('The file does not exist.');
    return words(random() < 0.05 ? 3000 : 20);
  },
});

const folder = mkdtempSync(join(tmpdir(), 'h-soak-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const sessions = fileSessions({ directory: join(folder, 'sessions'), fsync: 'never' });
const artifacts = await fileArtifacts({ directory: join(folder, 'artifacts') });
const lanes = createLanes({ concurrency: 8 });
const budget = createBudget({ maxTokens: 1e12 });
const redactor = createRedactor();
const meter = createUsageMeter({ maxTurns: 100 });
const outcomes = {};
const seen = { events: 0, compactions: 0, children: 0 };

const inner = (driver) => [
  failover({ backoff: () => 0, random: () => 0 }),
  prompt({ frozen: [{ id: 'identity', text: 'You are an agent that is never started again.' }] }),
  compaction({ window: 12_000, reserve: 2000, protectTokens: 600, summarize: () => 'Something was read.' }),
  loopDetect(),
  tools({ driver, maxChars: 4000, artifacts, redact: redactor.redact }),
  security({ redactor }),
  observe({ sinks: [callbackSink(() => void (seen.events += 1))], meter }),
];
const team = subagents({
  policy: unrestricted,
  lanes,
  budget,
  keepSessions: { latest: 10, store: sessions },
  agents: {
    explore: {
      description: 'Looks around.',
      policy: { tools: ['read'] },
      create: ({ guard, budget: share }) => {
        const driver = toolDriver(createRegistry().register(read));
        return harness({ model, tools: driver, sessions }).pipe(
          team,
          guardrails({ budget: share, maxSteps: 8 }),
          ...inner(driver),
          guard,
        );
      },
    },
  },
});
const driver = toolDriver(createRegistry().register(read, ...team.tools.map((tool) => defineTool(tool))));
const rules = [destructiveCommands({ cwd: folder }), approvals({ mode: 'never', cwd: folder })];
const agent = harness({ model, tools: driver, sessions }).pipe(
  queue(lanes),
  hooks(rules, { approvalStore: memoryApprovalStore() }),
  team,
  guardrails({ budget, maxSteps: 12 }),
  ...inner(driver),
);
const inbox = createInbox(agent, lanes, { mode: 'followup' });
inbox.events.subscribe((event) => {
  if (event.type === 'turn.end') outcomes[event.outcome] = (outcomes[event.outcome] ?? 0) + 1;
  if (event.type === 'compaction.done') seen.compactions += 1;
  if (event.type === 'subagent.ended') seen.children += 1;
});

/** Runs `count` turns, several at a time. */
const run = async (from, count) => {
  for (let next = from; next < from + count; next += sideBySide) {
    const batch = Array.from({ length: Math.min(sideBySide, from + count - next) }, (_, index) =>
      inbox.send(`session-${(next + index) % sessionCount}`, words(20)),
    );
    await Promise.all(batch);
  }
  await inbox.idle();
};

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
const columns = (values) => console.log(values.map((value) => String(value).padStart(14)).join(''));
columns([
  'turns',
  'CPU ms/turn',
  'heap MB',
  'RSS MB',
  'open files',
  'resources',
  'compactions',
  'sub-agents',
  'events',
]);
for (let done = 0, tenth = Math.ceil(turnCount / 10); done < turnCount; done += tenth) {
  const before = process.cpuUsage();
  await run(done, Math.min(tenth, turnCount - done));
  const { user, system } = process.cpuUsage(before);
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const files = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : '-';
  columns([
    done + tenth,
    ((user + system) / 1000 / tenth).toFixed(2),
    megabytes(heapUsed),
    megabytes(rss),
    files,
    process.getActiveResourcesInfo().length,
    seen.compactions,
    seen.children,
    seen.events,
  ]);
}
await inbox.close();
await team.close();
await lanes.shutdown();

let unsound = 0;
for (const { session } of await sessions.list()) {
  if (repairHistory(await sessions.messages(session)).repairs.length > 0) unsound += 1;
}
console.log(
  `outcomes: ${JSON.stringify(outcomes)} · turns left open: ${(await agent.unfinished()).length} · sessions in need of repair: ${unsound} · sessions kept: ${(await sessions.list()).length}`,
);
