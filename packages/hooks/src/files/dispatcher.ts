import type { SchedulerLike } from 'rxjs';
import { toErrorInfo } from '@h/turn';
import { answerOf, type CommandAnswer } from './answer.js';
import type { CommandDefinition, CommandEvent } from './definitions.js';
import { isConditionMet, isMatch, isPlain } from './matcher.js';
import { runCommand } from './run-command.js';
import { trustRequestOf, type HookTrust, type TrustRequest } from './trust.js';

/** Settings of a {@link Dispatcher}. */
export interface DispatcherSettings {
  readonly definitions: readonly CommandDefinition[];
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly trust: HookTrust | undefined;
  readonly scheduler: SchedulerLike;
}

/** An occurrence of an event, for which matching commands run. */
export interface Occasion {
  readonly event: CommandEvent;
  readonly session: string;
  /** The values that matchers test: the names of a tool, a source or a trigger. */
  readonly names: readonly string[];
  /** The tool input that the condition `if` tests. */
  readonly input?: unknown;
  /** Written to the standard input of each command, as JSON. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly notify: (message: string) => void;
}

const maxRemembered = 10_000;

/** Runs the commands that match an occasion, concurrently and each once, and collects their answers. */
export class Dispatcher {
  readonly #settings: DispatcherSettings;
  readonly #events: ReadonlySet<CommandEvent>;
  readonly #background = new AbortController();
  /** Trust decisions about commands of the project, by hash. */
  readonly #decided = new Map<string, Promise<boolean>>();
  readonly #ranOnce = new Set<string>();

  constructor(settings: DispatcherSettings) {
    this.#settings = settings;
    this.#events = new Set(settings.definitions.map(({ event }) => event));
  }

  has(...events: readonly CommandEvent[]): boolean {
    return events.some((event) => this.#events.has(event));
  }

  /** Aborts the commands that run in the background. */
  close(): void {
    this.#background.abort();
  }

  /** Runs the commands that match an occasion, and returns their answers in the order of the definitions. */
  async fire(occasion: Occasion): Promise<readonly CommandAnswer[]> {
    const chosen = await Promise.all(
      this.#settings.definitions.map(async (definition) =>
        (await this.#isFor(definition, occasion)) ? [definition] : [],
      ),
    );
    const answers = await Promise.all(distinct(chosen.flat()).map((definition) => this.#run(definition, occasion)));
    for (const { notices } of answers) for (const notice of notices) occasion.notify(notice);
    return answers;
  }

  async #isFor(definition: CommandDefinition, occasion: Occasion): Promise<boolean> {
    if (definition.event !== occasion.event) return false;
    const isMatched = (): boolean =>
      isMatch(definition.matcher, occasion.names) && isConditionMet(definition.if, occasion.names, occasion.input);
    // An untrusted regular expression is not evaluated, because it may never terminate.
    if (isPlain(definition.matcher) && !isMatched()) return false;
    if (!(await this.#isTrusted(definition, occasion)) || !isMatched()) return false;
    return (
      !definition.once ||
      this.#isFirst(JSON.stringify([occasion.session, definition.source, definition.event, definition.command]))
    );
  }

  #isFirst(key: string): boolean {
    if (this.#ranOnce.has(key)) return false;
    if (this.#ranOnce.size >= maxRemembered) this.#ranOnce.clear();
    this.#ranOnce.add(key);
    return true;
  }

  /** Returns whether a command may run, based on the current content of its files. */
  async #isTrusted(definition: CommandDefinition, { signal, notify }: Occasion): Promise<boolean> {
    if (definition.scope === 'user') return true;
    try {
      const request = await trustRequestOf(definition, this.#settings.projectDir);
      for (let known = this.#decided.get(request.hash); known !== undefined; known = this.#decided.get(request.hash)) {
        const isTrusted = await known;
        // The question of another turn that ended before it was answered is asked again for this turn.
        if (isTrusted || this.#decided.get(request.hash) === known) return isTrusted;
      }
      if (this.#decided.size >= maxRemembered) this.#decided.clear();
      const decided = this.#decide(request, signal, notify);
      this.#decided.set(request.hash, decided);
      return await decided;
    } catch (error) {
      notify(`The hook command ${JSON.stringify(definition.command)} was not run: ${toErrorInfo(error).message}`);
      return false;
    }
  }

  async #decide(request: TrustRequest, signal: AbortSignal, notify: (message: string) => void): Promise<boolean> {
    const { command, source } = request.definition;
    try {
      const isTrusted = (await this.#settings.trust?.(request, { signal, notify })) === true;
      // A question that ended with its turn was not answered; the next run asks again.
      if (!isTrusted && signal.aborted) this.#decided.delete(request.hash);
      if (!isTrusted) notify(`The hook command ${JSON.stringify(command)} of ${source} is not trusted; it is not run.`);
      return isTrusted;
    } catch (error) {
      // An error is not a decision, so the next run requests trust again.
      this.#decided.delete(request.hash);
      notify(`The hook command ${JSON.stringify(command)} of ${source} is not trusted: ${toErrorInfo(error).message}`);
      return false;
    }
  }

  async #run(definition: CommandDefinition, { payload, signal }: Occasion): Promise<CommandAnswer> {
    const { projectDir: cwd, env, scheduler } = this.#settings;
    const { command, args, timeoutSeconds } = definition;
    const run = {
      command,
      args,
      cwd,
      env,
      scheduler,
      input: `${JSON.stringify(payload)}\n`,
      timeoutMs: timeoutSeconds * 1000,
    };
    if (definition.async) {
      void this.#outcome({ ...run, signal: this.#background.signal });
      return { command, notices: [] };
    }
    return answerOf(definition, await this.#outcome({ ...run, signal }));
  }

  async #outcome(run: Parameters<typeof runCommand>[0]): ReturnType<typeof runCommand> {
    try {
      return await runCommand(run);
    } catch (error) {
      return { exitCode: undefined, stdout: '', stderr: toErrorInfo(error).message, failure: 'not-started' };
    }
  }
}

/**
 * Returns each command once. A project that repeats a command of the user must not replace its limits, and a command in
 * the background must not replace one that is waited for.
 */
const distinct = (definitions: readonly CommandDefinition[]): readonly CommandDefinition[] => {
  const byCommand = new Map<string, CommandDefinition>();
  for (const definition of definitions) {
    const key = JSON.stringify([definition.command, definition.args]);
    const known = byCommand.get(key);
    if (known === undefined || precedence(definition) > precedence(known)) byCommand.set(key, definition);
  }
  return [...byCommand.values()];
};

const precedence = ({ async, scope }: CommandDefinition): number => (async ? 0 : 2) + (scope === 'user' ? 1 : 0);
