import type { CommandEffect } from '@h/shell/effects';
import type { ToolEffect, ToolStatus } from '@h/turn';
import { canonicalText } from './canonical.js';
import { hasReadingStatement, removes, writes } from './effect.js';
import { keyOf } from './key.js';
import type { ToolLoopOptions } from '../options.js';
import { effectsOf, leadersOf, shellLineOf } from './shell.js';
import { isLookupTool, isNoteCall, navigationWords, subjectOf, textMember, wordSet, wordsOf } from './words.js';

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
  #isLookup: boolean | undefined;
  /** In a list of one; `undefined` before it was read. */
  #statement: readonly [Statement | undefined] | undefined;
  #words: readonly string[] | undefined;
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

  /** Whether it removes or ends what was made. */
  get removes(): boolean {
    return removes(this.call.name, this.call.input, this.#commands);
  }

  /** Whether its name or its command indicates a lookup. */
  get isLookup(): boolean {
    this.#isLookup ??= this.#looksUp();
    return this.#isLookup;
  }

  #looksUp(): boolean {
    const commands = this.#commands;
    if (commands !== undefined) return leadersOf(commands).every(isLookupCommand) && !this.writes();
    const effect = this.#options.effect ?? this.call.effect;
    if (effect !== undefined) return effect === 'read-only';
    return (isLookupTool(this.tool) || asks(this.call.input)) && !this.writes();
  }

  /** Whether it reads figures, as of a sensor, a queue or a database, and not a state, a page or a log. */
  get isGauge(): boolean {
    const commands = this.#commands;
    if (commands === undefined) {
      return (this.isLookup || this.isPoll) && !this.#toolWords.some((word) => stateWords.has(word));
    }
    const leaders = leadersOf(commands).filter(([name]) => name !== 'sleep');
    const isRead = leaders.length > 0 && leaders.every(([name = '']) => gaugeCommands.has(name));
    return isRead && commands.every((effect) => !effect.writes || discards(effect));
  }

  /**
   * Whether it acts on something with a state, such as a screen, a game or a debugger, so that other
   * calls may have other results from then on. Its name indicates a navigation, or neither a lookup nor a change.
   *
   * @param declared the effect that the tool declares
   */
  acts(declared: ToolEffect | undefined = this.call.effect): boolean {
    if (this.isNote) return false;
    if (this.isShell) return !this.isLookup && !this.isPoll && !this.writes(declared);
    if ((this.#options.effect ?? declared) === 'read-only') return false;
    const words = this.#toolWords;
    if (words.some((word) => navigationWords.has(word))) return true;
    return !this.isLookup && !words.some((word) => stateWords.has(word)) && !this.writes(declared);
  }

  /** Whether it is an input event of a screen, such as a click. */
  get isInput(): boolean {
    return this.#isOf(inputWords) || isControl(this.call.input);
  }

  /** Whether it shows a screen. */
  get isScreen(): boolean {
    return this.#isOf(screenWords);
  }

  /** Whether its name or its action has one of some words. */
  #isOf(words: ReadonlySet<string>): boolean {
    const action = textMember(this.call.input, 'action');
    return (
      this.#toolWords.some((word) => words.has(word)) ||
      (action !== undefined && wordsOf(action).some((word) => words.has(word)))
    );
  }

  /** Whether it only stores or prints notes of the model, which is never progress. */
  get isNote(): boolean {
    const commands = this.#commands;
    if (commands !== undefined) {
      return commands.length > 0 && commands.every(({ program, writes: isKept }) => !isKept && printers.has(program));
    }
    return isNoteCall(this.tool, this.call.input) || handOff.test(this.tool);
  }

  /** What it is about: a file, a page or a record, if its input names one. */
  get subject(): string | undefined {
    const commands = this.#commands;
    if (commands === undefined) return subjectOf(this.call.input);
    const [, ...args] = leadersOf(commands)[0] ?? [];
    return args.findLast((word) => /^[^-]/.test(word) && /\D/.test(word))?.replace(/^\.\//, '');
  }

  /** Whether its input has a sentence, as a question or a task, which can be worded differently. */
  get hasSentence(): boolean {
    const { input } = this.call;
    return typeof input === 'object' && input !== null && Object.values(input).some(isSentence);
  }

  /** Its input without sentences: to whom or about what they are. */
  get withoutSentences(): string {
    const { input } = this.call;
    if (typeof input !== 'object' || input === null) return '';
    return canonicalText(Object.entries(input).filter(([, member]) => !isSentence(member)));
  }

  /**
   * What it says, and to whom or about what: a text in the input of a call that reads nothing. The site is equal for
   * calls that differ in the text only.
   */
  get statement(): Statement | undefined {
    this.#statement ??= [this.isShell || this.isPoll || this.isLookup ? undefined : statementOf(this.call)];
    return this.#statement[0];
  }

  /** Whether it only lets time pass, so that an equal answer is no progress. */
  get isPause(): boolean {
    const commands = this.#commands;
    if (commands !== undefined) return commands.length > 0 && commands.every(({ program }) => program === 'sleep');
    return this.#toolWords.some((word) => pauseWords.has(word));
  }

  get #toolWords(): readonly string[] {
    this.#words ??= wordsOf(this.tool);
    return this.#words;
  }

  get #commands(): readonly CommandEffect[] | undefined {
    if (this.#effects === undefined) {
      const effects = effectsOf(this.call.name, this.call.input);
      this.#effects = effects === undefined ? [] : [effects];
    }
    return this.#effects[0];
  }
}

/** Words in the names of tools that report a state or page through content, so that equal calls differ in results. */
const pollingWords: ReadonlySet<string> = wordSet(
  'poll status wait watch progress sleep logs tail output await checks ping scroll next more forward chunk ' +
    'step continue resume random generate sample roll claim lease reserve messages inbox notifications ' +
    'dequeue pop receive screenshot snapshot click press tap swipe refresh keys keypress hotkey undo redo terminal',
);
/** Those of a state, whose figures are details. */
const stateWords: ReadonlySet<string> = wordSet('poll status wait watch progress sleep checks check logs output await');
/** Members of an input that name a control of a device. A call with one is an input event, whatever the tool's name is. */
const controlMembers = ['button', 'hotkey', 'keycode', 'gesture'];
const isControl = (input: unknown): boolean => controlMembers.some((name) => textMember(input, name) !== undefined);
const inputWords: ReadonlySet<string> = wordSet(
  'click press tap type fill key keys keypress hotkey scroll swipe drag hover mouse select',
);
const screenWords: ReadonlySet<string> = wordSet('screenshot snapshot screen');
const pollingActions: ReadonlySet<string> = wordSet(
  // With the actions of computer-use tools whose effect is only on the screen.
  'poll log logs status wait progress tail hold_key keypress scroll screenshot',
);
const lookupCommands: ReadonlySet<string> = wordSet(
  'cat head tail less ls grep egrep rg find fd wc stat file echo pwd which type env printenv tree du sed awk ' +
    'git cd',
);
/** Commands that print figures, or what a request returns. */
const gaugeCommands: ReadonlySet<string> = wordSet(
  'curl wget cat wc du df free uptime vmstat iostat mpstat sensors nvidia-smi rocm-smi ping redis-cli rabbitmqctl ' +
    'mysqladmin psql mysql mariadb sqlite3 mongosh clickhouse-client duckdb',
);
/** Commands that print what they are given, or the time. */
const printers: ReadonlySet<string> = wordSet('echo printf true : date');
const pauseWords: ReadonlySet<string> = wordSet('wait sleep pause delay');
/** Matches tools that give the conversation to another agent, which is no progress either. */
const handOff = /^(?:transfer_?to|hand_?off)/i;
const severalWords = /\S +\S+ +\S/;
/** Whether a value is several words for people, unlike code and statements. */
const isSentence = (value: unknown): boolean =>
  typeof value === 'string' && severalWords.test(value) && !/[=;{}<>]|\w\(/.test(value);

/** A text that a call says or writes. */
interface Statement {
  readonly site: string;
  readonly text: string;
}

const statementOf = ({ name, input }: LoopCall): Statement | undefined => {
  if (typeof input !== 'object' || input === null) return undefined;
  let text = '';
  canonicalText(input, (part) => {
    if (part.length > text.length) text = part;
    return '';
  });
  if (!severalWords.test(text)) return undefined;
  return { site: `${name} ${canonicalText(input, (part) => (part === text ? '' : JSON.stringify(part)))}`, text };
};

/** Whether an input says that it reads: the method of a request, or a statement. */
const asks = (input: unknown): boolean =>
  /^(?:GET|HEAD)$/i.test(textMember(input, 'method') ?? '') || hasReadingStatement(input);

type Commands = ReadonlyMap<string, ReadonlySet<string> | undefined>;

const containerStates = new Set(['ps', 'logs', 'inspect', 'stats', 'top', 'events']);
const clusterStates = new Set(['get', 'describe', 'logs', 'rollout', 'wait', 'top']);
const cloudStates = new Set(['wait', 'describe', 'describe-stacks', 'describe-instances', 'list', 'get', 'show']);

/**
 * Commands that report the state of a system, service or job, either always or with one of these arguments. From the
 * manuals of procps, sysstat, iproute2, BIND, PostgreSQL, MySQL, Redis, RabbitMQ, Slurm, PBS, LSF and of the process
 * managers, container and cloud clients in common use, November 2026.
 */
const pollingCommands: Commands = new Map<string, ReadonlySet<string> | undefined>([
  ...(
    'sleep ps pgrep jobs tail lsof nc ping curl squeue wait uptime journalctl top htop vmstat iostat mpstat free ' +
    'nvidia-smi rocm-smi ss netstat ncat telnet dig host nslookup pg_isready sacct sstat qstat bjobs condor_q ' +
    // Input events, and programs that measure time.
    'xdotool ydotool wtype cliclick hyperfine ab wrk hey oha k6 siege vegeta fio sysbench pgbench iperf3'
  )
    .split(' ')
    .map((name) => [name, undefined] as const),
  ['gh', new Set(['view', 'checks', 'watch', 'list', 'status'])],
  ['glab', new Set(['status', 'view', 'list'])],
  ...['kubectl', 'oc'].map((name) => [name, clusterStates] as const),
  ...['docker', 'docker-compose', 'podman', 'nerdctl'].map((name) => [name, containerStates] as const),
  ['systemctl', new Set(['status', 'is-active', 'is-failed', 'show'])],
  ...['service', 'pg_ctl', 'helm', 'nomad', 'fly', 'flyctl'].map((name) => [name, new Set(['status'])] as const),
  ['wget', new Set(['--spider'])],
  ['tmux', new Set(['send-keys', 'send', 'capture-pane'])],
  ['adb', new Set(['input', 'devices', 'get-state', 'logcat'])],
  ['virsh', new Set(['domstate', 'list'])],
  ['supervisorctl', new Set(['status', 'tail'])],
  ['pm2', new Set(['status', 'list', 'ls', 'logs', 'show', 'describe'])],
  ['mysqladmin', new Set(['ping', 'status', 'processlist'])],
  ['redis-cli', new Set(['ping', 'info', 'dbsize', 'llen', 'scard', 'zcard', 'xlen', 'hlen', 'ttl'])],
  ['rabbitmqctl', new Set(['status', 'list_queues', 'list_consumers', 'list_connections'])],
  ...['aws', 'az', 'gcloud'].map((name) => [name, cloudStates] as const),
]);

export const isKnownPoll = (
  call: LoopCall,
  effects: readonly CommandEffect[] | undefined = effectsOf(call.name, call.input),
): boolean => {
  if (effects !== undefined) {
    // Some shells report new output on an empty line.
    if (effects.length === 0) return true;
    return leadersOf(effects).some(isPollingCommand) && effects.every((effect) => !effect.writes || discards(effect));
  }
  const action = textMember(call.input, 'action') ?? textMember(call.input, 'command');
  if (action !== undefined && pollingActions.has(action)) return true;
  // Some shells report new output on an empty write to the process.
  if (textMember(call.input, 'chars') === '' || isControl(call.input)) return true;
  const words = wordsOf(call.name);
  return words.some((word) => pollingWords.has(word)) && !words.includes('git');
};

/** Whether a request writes what it receives nowhere. */
const discards = ({ program, args }: CommandEffect): boolean => program === 'curl' && args.includes('/dev/null');

const isLookupCommand = ([name]: readonly string[]): boolean => name === undefined || lookupCommands.has(name);

const isPollingCommand = ([name = '', ...words]: readonly string[]): boolean => {
  const behind = pollingCommands.get(name);
  if (behind !== undefined) return words.slice(0, 4).some((word) => behind.has(word));
  return pollingCommands.has(name) || (name === 'cat' && words.some((word) => word.endsWith('.log')));
};
