import type { CommandEffect } from '@h/shell/effects';
import type { ToolEffect, ToolStatus } from '@h/turn';
import { canonicalText, hashOf } from './canonical.js';
import { writes } from './effect.js';
import type { ToolLoopOptions } from './options.js';
import { effectsOf, leadersOf, shellLineOf } from './shell.js';
import { textMember, wordsOf } from './words.js';

/** A tool call as the model requested it. */
export interface LoopCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** The declared effect of the tool; inferred from names and shell commands if absent. */
  readonly effect?: ToolEffect | undefined;
}

/** How a call ended. */
export interface LoopOutcome {
  readonly status: ToolStatus;
  /** The output for the model: a string, an output as in `tool.result`, or any other value. */
  readonly output: unknown;
}

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** A call with the traits derived from its name and input. Rarely used traits are computed on first access. */
export class DescribedCall {
  readonly call: LoopCall;
  /** Equal for equivalent calls, regardless of the order of keys and the stated reason. */
  readonly key: string;
  readonly tool: string;
  /** Whether `tools` has `false` for this tool. */
  readonly isExempt: boolean;
  readonly #options: ToolLoopOptions;
  #isShell: boolean | undefined;
  #isPoll: boolean | undefined;
  /** The commands of a shell call, in a list of at most one; `undefined` before they were read. */
  #effects: readonly (readonly CommandEffect[])[] | undefined;

  constructor(call: LoopCall, options: ToolLoopOptions | false | undefined) {
    this.call = call;
    this.tool = call.name;
    this.isExempt = options === false;
    this.#options = options === false ? {} : (options ?? {});
    this.key = keyOf(call, this.#options.inputOf);
  }

  get isShell(): boolean {
    this.#isShell ??= shellLineOf(this.call.name, this.call.input) !== undefined;
    return this.#isShell;
  }

  /** Whether the call is meant to be repeated, because it requests a state or the next page. */
  get isPoll(): boolean {
    this.#isPoll ??= this.#options.poll ?? isKnownPoll(this.call, this.#commands);
    return this.#isPoll;
  }

  /** Whether a success changes something. @param declared the effect that the tool declares */
  writes(declared: ToolEffect | undefined = this.call.effect): boolean {
    const { name, input } = this.call;
    return writes({ name, input, effect: this.#options.effect ?? declared }, this.#commands);
  }

  /** Whether its name or its command indicates a lookup. */
  get isLookup(): boolean {
    const commands = this.#commands;
    if (commands !== undefined) return leadersOf(commands).every(isLookupCommand) && !this.writes();
    const effect = this.#options.effect ?? this.call.effect;
    if (effect !== undefined) return effect === 'read-only';
    return wordsOf(this.tool).some((word) => lookupWords.has(word)) && !this.writes();
  }

  /** Whether it only stores notes of the model, which is never progress. */
  get isNote(): boolean {
    return wordsOf(this.tool).some((word) => noteWords.has(word)) || handOff.test(this.tool);
  }

  /** What it is about: a file, a page or a record, if its input names one. */
  get subject(): string | undefined {
    const { input } = this.call;
    if (typeof input !== 'object' || input === null) return undefined;
    for (const [member, value] of Object.entries(input)) {
      if (typeof value === 'string' && subjectMember.test(member)) return value;
    }
    return undefined;
  }

  /** Whether its input has a sentence, as a question or a task, which can be worded differently. */
  get hasSentence(): boolean {
    const { input } = this.call;
    if (typeof input !== 'object' || input === null) return false;
    return Object.values(input).some((member) => typeof member === 'string' && /\S +\S+ +\S/.test(member));
  }

  /** Whether it only lets time pass, so that an equal answer is no progress. */
  get isPause(): boolean {
    return wordsOf(this.tool).some((word) => pauseWords.has(word));
  }

  get #commands(): readonly CommandEffect[] | undefined {
    if (this.#effects === undefined) {
      const effects = effectsOf(this.call.name, this.call.input);
      this.#effects = effects === undefined ? [] : [effects];
    }
    return this.#effects[0];
  }
}

/** Members in which models state the reason for a call, with different wording each time. */
const reasonMembers: ReadonlySet<string> = wordSet('explanation justification reasoning thought toolSummary');
/** Members that differ between equivalent calls. */
const volatileMembers: ReadonlySet<string> = wordSet(
  'requestId request_id traceId trace_id nonce timestamp idempotencyKey idempotency_key yield_time_ms',
);
/** Members that do not change a shell call: labels for people, and how long it may take. Other tools may act on them. */
const shellLabels: ReadonlySet<string> = wordSet('description reason timeout timeout_ms');

/** @param select selects the significant part of the input, if the options define it */
export const keyOf = (
  { name, input }: Pick<LoopCall, 'name' | 'input'>,
  select?: (input: unknown) => unknown,
): string => {
  const counts = select === undefined ? relevantInput(name, input) : selectFrom(select, input);
  return `${name.slice(0, 100)}:${hashOf(`${name}\n${canonicalText(counts)}`)}`;
};

/** Returns the selected part of a value; the whole value if `select` throws. */
export const selectFrom = (select: (value: unknown) => unknown, value: unknown): unknown => {
  try {
    return select(value);
  } catch {
    return value;
  }
};

/** Matches a pause in a command, whatever its length. */
const sleepLength = /\bsleep +[\d.]{1,20}[smhd]?(?![\w.])/g;

const relevantInput = (name: string, input: unknown): unknown => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  let rest: Record<string, unknown> | undefined;
  for (const [member, value] of Object.entries(input)) {
    const isCommand =
      (member === 'command' || member === 'cmd') && typeof value === 'string' && /#|\bsleep /.test(value);
    const isLabel = shellLabels.has(member);
    if (!isCommand && !isLabel && !reasonMembers.has(member) && !volatileMembers.has(member)) continue;
    if ((isCommand || isLabel) && shellLineOf(name, input) === undefined) continue;
    rest ??= { ...input };
    if (isCommand) rest[member] = withoutComments(value).replaceAll(sleepLength, 'sleep');
    else delete rest[member];
  }
  return rest ?? input;
};

/** Removes comments from a shell command, except in here-documents, where they are content. */
const withoutComments = (line: string): string => {
  if (line.includes('<<')) return line;
  let quote = '';
  let kept = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote === '' && character === '#' && (at === 0 || /[\s;&|(]/.test(line.charAt(at - 1)))) {
      const end = line.indexOf('\n', at);
      if (end < 0) break;
      at = end - 1;
      continue;
    }
    if (character === '\\' && quote !== "'") {
      kept += line.slice(at, at + 2);
      at += 1;
      continue;
    }
    if (quote === character) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    kept += character;
  }
  return kept.trim();
};

/** Words in the names of tools that report a state or page through content, so that equal calls differ in results. */
const pollingWords: ReadonlySet<string> = wordSet(
  'poll status wait watch progress sleep logs tail output await checks ping scroll next more forward chunk ' +
    'step continue resume random generate sample roll claim lease reserve messages inbox notifications ' +
    'dequeue pop receive screenshot snapshot click press tap swipe refresh',
);
const pollingActions: ReadonlySet<string> = wordSet('poll log logs status wait progress tail');
const lookupWords: ReadonlySet<string> = wordSet(
  'read get list search find grep glob query lookup look fetch retrieve recall view show browse describe inspect count',
);

const lookupCommands: ReadonlySet<string> = wordSet(
  'cat head tail less ls grep egrep rg find fd wc stat file echo pwd which type env printenv tree du sed awk ' +
    'git cd',
);
const pauseWords: ReadonlySet<string> = wordSet('wait sleep pause delay');
/** Members of an input that name what a call is about. */
const subjectMember = /^(?:\w{1,20}_)?(?:path|file|directory|folder|url|id|domain)$/i;
/** Matches tools that give the conversation to another agent, which is no progress either. */
const handOff = /^(?:transfer_?to|hand_?off)/i;
const noteWords: ReadonlySet<string> = wordSet('think thought thinking todo todos plan note notes');

type Commands = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** Commands that poll, either always or with one of these arguments. */
const pollingCommands: Commands = new Map<string, ReadonlySet<string> | undefined>([
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

export const isKnownPoll = (
  call: LoopCall,
  effects: readonly CommandEffect[] | undefined = effectsOf(call.name, call.input),
): boolean => {
  if (effects !== undefined) return leadersOf(effects).some(isPollingCommand) && !writes(call, effects);
  const action = textMember(call.input, 'action') ?? textMember(call.input, 'command');
  if (action !== undefined && pollingActions.has(action)) return true;
  // Some shells report new output on an empty write to the process.
  if (textMember(call.input, 'chars') === '') return true;
  const words = wordsOf(call.name);
  return words.some((word) => pollingWords.has(word)) && !words.includes('git');
};

const isLookupCommand = ([name]: readonly string[]): boolean => name === undefined || lookupCommands.has(name);

const isPollingCommand = ([name = '', ...words]: readonly string[]): boolean => {
  const behind = pollingCommands.get(name);
  if (behind !== undefined) return words.slice(0, 4).some((word) => behind.has(word));
  return pollingCommands.has(name) || (name === 'cat' && words.some((word) => word.endsWith('.log')));
};
