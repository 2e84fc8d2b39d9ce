import { compaction } from '@h/compaction';
import { createCredentialPool, failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { memorySink, observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { createLanes, queue } from '@h/queue';
import { security } from '@h/security';
import { tools } from '@h/tools';
import type { PipelineOperator } from '@h/turn';
import type { Answer } from './model-server.js';

/** The ten operators at their defaults, in the order of the pipe. */
export const defaultOperators: Readonly<Record<string, () => PipelineOperator>> = {
  queue: () => queue(createLanes()),
  hooks: () => hooks([destructiveCommands()]),
  guardrails: () => guardrails(),
  failover: () => failover(),
  prompt: () => prompt({ frozen: [{ id: 'identity', text: 'You are careful.' }] }),
  compaction: () => compaction(),
  'loop-detect': () => loopDetect(),
  tools: () => tools(),
  security: () => security(),
  observe: () => observe(),
};

/** What the host did with a script: what its model and its tools received. */
export interface Effects {
  readonly bodies: readonly string[];
  readonly keys: readonly string[];
  /** Calls that ran, as `name input`. */
  readonly ran: readonly string[];
  readonly outcomes: readonly string[];
}

/** A scene in which a package must have its effect. */
export interface PackageScene {
  readonly title: string;
  create(): PipelineOperator;
  readonly answers: readonly Answer[];
  /** Returns what is missing; `undefined` if the package had its effect. */
  missing(effects: Effects): string | undefined;
}

const reads = (path: string): Answer => ({ calls: [{ name: 'read', input: { path } }] });
const done: Answer = { text: 'Done.' };
const unless = (condition: boolean, missing: string): string | undefined => (condition ? undefined : missing);

/** What each package is for, in a run of the host. */
export const scenesOf = (keys: readonly { readonly id: string; readonly key: string }[]): readonly PackageScene[] => {
  const sink = memorySink();
  const lanes = createLanes();
  let admitted = 0;
  return [
    {
      title: 'queue admits the turn',
      create: () => {
        admitted = 0;
        const enter: typeof lanes.enter = (...request) => {
          admitted += 1;
          return lanes.enter(...request);
        };
        return queue({ enter });
      },
      answers: [done],
      missing: () => unless(admitted === 1, `${admitted} turns were admitted.`),
    },
    {
      title: 'hooks denies a destructive command',
      create: () => hooks([destructiveCommands()]),
      answers: [{ calls: [{ name: 'bash', input: { command: 'rm -rf /' } }] }, done],
      missing: ({ ran, bodies }) =>
        unless(!ran.some((call) => call.startsWith('bash')), 'The command ran.') ??
        unless(bodies.length === 2, `The model was called ${bodies.length} times.`),
    },
    {
      title: 'guardrails limits the steps',
      create: () => guardrails({ maxSteps: 2, wrapUp: false }),
      answers: [reads('a'), reads('b'), reads('c'), reads('d'), done],
      missing: ({ bodies, outcomes }) =>
        unless(bodies.length === 2, `The model was called ${bodies.length} times.`) ??
        unless(outcomes.includes('max-steps'), `The turn ended as ${outcomes.join()}.`),
    },
    {
      title: 'failover rotates the keys',
      create: () =>
        failover({
          pool: createCredentialPool({ profiles: keys.map((profile) => ({ ...profile, provider: 'suite' })) }),
          models: ['suite/model'],
        }),
      answers: [{ status: 401, message: 'Invalid key.' }, done],
      missing: ({ keys: used }) => unless(new Set(used).size === 2, `The keys ${used.join()} were used.`),
    },
    {
      title: 'prompt adds its section to every request',
      create: () => prompt({ frozen: [{ id: 'identity', text: 'You are the careful one.' }] }),
      answers: [reads('a'), done],
      missing: ({ bodies }) =>
        unless(
          bodies.every((body) => body.includes('You are the careful one.')),
          'A request lacks the section.',
        ),
    },
    {
      title: 'compaction shortens the history',
      create: () =>
        compaction({ window: 6000, reserve: 1000, summarize: () => ({ text: 'The summary of what happened.' }) }),
      answers: [...Array.from({ length: 8 }, (_, index) => reads(`long${index}`)), done],
      missing: ({ bodies }) =>
        unless(Math.max(...bodies.map(({ length }) => length)) < 40_000, 'A request has 40,000 characters or more.'),
    },
    {
      title: 'loop-detect ends a loop of identical calls',
      create: () => loopDetect(),
      answers: Array.from({ length: 30 }, () => reads('a')),
      missing: ({ bodies, outcomes }) =>
        unless(bodies.length < 15, `The model was called ${bodies.length} times.`) ??
        unless(outcomes.includes('loop-detected'), `The turn ended as ${outcomes.join()}.`),
    },
    {
      title: 'tools limits the size of a result',
      create: () => tools(),
      answers: [reads('huge'), done],
      missing: ({ bodies }) => unless((bodies[1]?.length ?? Infinity) < 1_000_000, 'The result was sent in full.'),
    },
    {
      title: 'security redacts a secret',
      create: () => security(),
      answers: [reads('secret'), done],
      missing: ({ bodies }) =>
        unless(bodies.length === 2, `The model was called ${bodies.length} times.`) ??
        unless(!bodies.join('').includes(secret), 'The secret was sent.'),
    },
    {
      title: 'observe reports the turn',
      create: () => observe({ sinks: [sink] }),
      answers: [reads('a'), done],
      missing: () => unless(sink.observations().length > 0, 'There are no observations.'),
    },
  ];
};

/** What the tool `read` returns for the path `secret`. */
export const secret = 'sk-proj-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ';
