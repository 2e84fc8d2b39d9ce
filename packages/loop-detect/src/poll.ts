import { commandEffects, type CommandEffect } from '@h/shell/effects';
import type { LoopCall } from './call.js';
import { shellLineOf } from './shell.js';
import { textMember, wordsOf } from './words.js';

/** Whether a call is meant to be made again and again: it asks how far something is, or goes on to the next page. */
export const isKnownPoll = (call: LoopCall): boolean => {
  const line = shellLineOf(call.name, call.input);
  if (line !== undefined) {
    const effects = commandEffects(line);
    return (
      effects.some((effect) => effect.isFirst && isPollingCommand(effect)) && !effects.some(({ writes }) => writes)
    );
  }
  const action = textMember(call.input, 'action') ?? textMember(call.input, 'command');
  if (action !== undefined && pollingActions.has(action)) return true;
  // An empty write to a running process is how some shells ask for what it has said since.
  if (textMember(call.input, 'chars') === '') return true;
  const words = wordsOf(call.name);
  return words.some((word) => pollingWords.has(word)) && !words.includes('git');
};

const pollingActions: ReadonlySet<string> = new Set(['poll', 'log', 'logs', 'status', 'wait', 'progress', 'tail']);

/** Scrolling and clicking are among them: one call with one input, each time another page. */
const pollingWords: ReadonlySet<string> = new Set([
  'poll',
  'status',
  'wait',
  'watch',
  'progress',
  'sleep',
  'logs',
  'tail',
  'output',
  'await',
  'checks',
  'scroll',
  'next',
  'screenshot',
  'snapshot',
  'click',
  'press',
  'tap',
  'swipe',
]);

const isPollingCommand = ({ program, args }: CommandEffect): boolean => {
  const behind = pollingCommands.get(program);
  return behind === undefined ? pollingCommands.has(program) : args.slice(0, 4).some((word) => behind.has(word));
};

/** Commands that poll: always, or with one of these words behind them. */
const pollingCommands: ReadonlyMap<string, ReadonlySet<string> | undefined> = new Map<
  string,
  ReadonlySet<string> | undefined
>([
  ...[
    'sleep',
    'ps',
    'pgrep',
    'jobs',
    'tail',
    'lsof',
    'nc',
    'ping',
    'curl',
    'squeue',
    'wait',
    'uptime',
    'journalctl',
  ].map((name) => [name, undefined] as const),
  ['gh', new Set(['view', 'checks', 'watch', 'list', 'status'])],
  ['glab', new Set(['status', 'view', 'list'])],
  ['kubectl', new Set(['get', 'describe', 'logs', 'rollout', 'wait', 'top'])],
  ['docker', new Set(['ps', 'logs', 'inspect', 'stats'])],
  ['systemctl', new Set(['status', 'is-active'])],
  ['aws', new Set(['wait', 'describe', 'describe-stacks', 'describe-instances', 'list', 'get'])],
]);
