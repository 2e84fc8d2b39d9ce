import {
  checkOptions,
  integerFrom,
  InvalidOptionError,
  nonEmptyString,
  recordOf,
  required,
  anyFunction,
} from '@h/options';
import { toErrorInfo, TurnError } from '@h/turn';
import pTimeout from 'p-timeout';
import { canaryName, canaryReason } from './canary.js';

/** How long a host may take to call the canary. */
const defaultTimeoutMs = 30_000;

/** A tool that must never run. */
export interface Canary {
  readonly name: string;
  readonly description: string;
  /** The input with which the host must call it. */
  readonly input: { readonly token: string };
  /** The JSON schema of the input. */
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: { readonly token: { readonly type: 'string' } };
    readonly required: ['token'];
    readonly additionalProperties: false;
  };
  /** The name of a session that only this check uses. */
  readonly session: string;
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
  /** The implementation of the tool: records that the call went through. */
  run(): string;
}

/**
 * Makes the host call the canary on one of its paths, with a scripted model.
 *
 * @returns everything that the model read after the call, as text
 */
export type DoctorPath = (canary: Canary) => PromiseLike<string>;

/** The call that the scripted model of a doctor makes: of the canary, or of the sub-agent that has the canary. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
  readonly session: string;
}

/** What the scripted model of a doctor does: it makes one call in its first answer, and keeps what it reads later. */
export class CanaryScript {
  readonly call: { readonly id: string; readonly name: string; readonly input: ScriptedCall['input'] };
  readonly #read: unknown[] = [];
  #isFirst = true;

  constructor({ name, input, session }: ScriptedCall) {
    this.call = { id: `${session}-${name}`, name, input };
  }

  /** What the model has read after the call, as text. */
  get read(): string {
    return this.#read.length === 0 ? '' : JSON.stringify(this.#read);
  }

  /** Returns whether the model makes the call now. After that, keeps the results of the request. */
  isCall(results: readonly unknown[]): boolean {
    if (!this.#isFirst) this.#read.push(...results);
    const isCall = this.#isFirst;
    this.#isFirst = false;
    return isCall;
  }
}

/** Options that the `doctor` of each bridge has. */
export interface DoctorLimits {
  /**
   * How long each path may take, in milliseconds.
   *
   * @defaultValue `30_000`, since no model answers, only the start of the application takes time
   */
  readonly timeoutMs?: number | undefined;
}

/** Options of {@link doctor}. */
export interface DoctorOptions extends DoctorLimits {
  /** The name of the host in messages. */
  readonly host: string;
  /** The ways in which the host makes tool calls, by name: its own loop, and each sub-agent. */
  readonly paths: Readonly<Record<string, DoctorPath>>;
  /** How to correct a path that is not covered, as a sentence. */
  readonly advice: string;
}

/**
 * What was seen on a path that is not proved to be safe.
 *
 * | seen | meaning |
 * |---|---|
 * | `ran` | the denied call ran |
 * | `not-denied` | the call did not run, but no bridge has denied it: something else failed, or the tool is unknown |
 * | `failed` | the host failed before the end of the check |
 * | `timed-out` | the host did not finish in time |
 */
export interface DoctorFinding {
  readonly path: string;
  readonly seen: 'ran' | 'not-denied' | 'failed' | 'timed-out';
  readonly detail: string;
}

/** A host did not prove that it enforces denials. Do not start it. */
export class DoctorError extends TurnError {
  readonly host: string;
  readonly findings: readonly DoctorFinding[];

  constructor(host: string, findings: readonly DoctorFinding[], advice: string) {
    const list = findings.map(({ path, detail }) => `${JSON.stringify(path)}: ${detail}`).join(' ');
    super('denial-not-enforced', `doctor(): ${host} did not prove that it enforces denials. ${list} ${advice}`);
    this.host = host;
    this.findings = findings;
  }
}

/**
 * Proves that a host enforces denials on each of its paths: makes the host call a tool that every bridge denies.
 *
 * A path passes only if the model read the denial and the tool did not run. Failures and timeouts do not pass. Bridges
 * have a `doctor` for their host, which needs no paths.
 *
 * @throws DoctorError with a finding for each path that did not pass
 * @throws InvalidOptionError if an option has a wrong value or `paths` is empty
 *
 * @example
 * ```ts
 * declare const runLoop: (canary: Canary) => Promise<string>;
 * await doctor({ host: 'My loop', paths: { loop: runLoop }, advice: 'Call tools through session.tool().' });
 * ```
 */
export const doctor = async (options: DoctorOptions): Promise<void> => {
  checkOptions('doctor()', options, {
    host: required(nonEmptyString),
    paths: required(recordOf(anyFunction)),
    advice: required(nonEmptyString),
    timeoutMs: integerFrom(1),
  });
  const { host, paths, advice, timeoutMs = defaultTimeoutMs } = options;
  requireOne('paths', 'path of the host', paths);
  const found = await Promise.all(Object.entries(paths).map(([name, path]) => examine(name, path, timeoutMs)));
  const findings = found.filter((finding) => finding !== undefined);
  if (findings.length > 0) throw new DoctorError(host, findings, advice);
};

/** Throws if an application names no agent, because nothing would be proved. */
export const requireAgents = (agents: object): void => requireOne('agents', 'agent', agents);

const requireOne = (option: string, kind: string, given: object): void => {
  if (Object.keys(given).length > 0) return;
  const message = `doctor(): ${option} is empty, so nothing would be proved. Name at least one ${kind}.`;
  throw new InvalidOptionError({ owner: 'doctor()', option, message });
};

/** What an agent must use instead of its own, beside the model and the tools in the form of the host. */
export interface ProbeSession {
  /** The name of a session that only this check uses. */
  readonly session: string;
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
}

/** Runs an agent once, as the application runs it. */
export type RunWithProbe<Probe> = (probe: Probe) => PromiseLike<unknown>;

/** Options of {@link examineAgents}. */
export interface AgentsOptions<Probe> extends Omit<DoctorOptions, 'paths'> {
  readonly agents: Readonly<Record<string, RunWithProbe<Probe>>>;
  /** Returns the scripted model and the canary in the form of the host. */
  readonly probeOf: (canary: Canary, script: CanaryScript) => Probe;
}

/** Runs {@link doctor} with a path for each agent, which the application runs with a scripted model and the canary. */
export const examineAgents = async <Probe>({ agents, probeOf, ...options }: AgentsOptions<Probe>): Promise<void> => {
  checkOptions('doctor()', { agents }, { agents: required(recordOf(anyFunction)) });
  requireAgents(agents);
  const pathOf =
    (run: RunWithProbe<Probe>): DoctorPath =>
    async (canary) => {
      const script = new CanaryScript(canary);
      await run(probeOf(canary, script));
      return script.read;
    };
  return doctor({
    ...options,
    paths: Object.fromEntries(Object.entries(agents).map(([name, run]) => [name, pathOf(run)])),
  });
};

const examine = async (path: string, ask: DoctorPath, timeoutMs: number): Promise<DoctorFinding | undefined> => {
  const abort = new AbortController();
  let hasRun = false;
  // oxlint-disable-next-line h/no-clock -- the session must be one that no turn has, and nothing else depends on it
  const id = crypto.randomUUID();
  const canary: Canary = {
    name: canaryName,
    description: 'Checks that denials are enforced. It must never run.',
    input: { token: id },
    inputSchema: {
      type: 'object',
      properties: { token: { type: 'string' } },
      required: ['token'],
      additionalProperties: false,
    },
    session: `doctor-${id}`,
    signal: abort.signal,
    run: () => {
      hasRun = true;
      return 'The canary ran.';
    },
  };
  const seen = await outcomeOf(ask, canary, timeoutMs);
  abort.abort(new TurnError('doctor-ended', 'The check of the doctor has ended.'));
  if (hasRun) return { path, seen: 'ran', detail: 'The denied call ran.' };
  if (typeof seen !== 'string') return { path, ...seen };
  if (seen.includes(canaryReason)) return undefined;
  const read =
    seen === '' ? 'The host did not return a result of the call to the model.' : `The model read ${shown(seen)}.`;
  return { path, seen: 'not-denied', detail: `The call was not denied. ${read}` };
};

const outcomeOf = async (
  ask: DoctorPath,
  canary: Canary,
  timeoutMs: number,
): Promise<string | Omit<DoctorFinding, 'path'>> => {
  const detail = `The host did not finish within ${timeoutMs} ms.`;
  try {
    return await pTimeout<string, Omit<DoctorFinding, 'path'>>(
      Promise.resolve().then(() => ask(canary)),
      { milliseconds: timeoutMs, fallback: () => ({ seen: 'timed-out', detail }) },
    );
  } catch (error) {
    const { name, message } = toErrorInfo(error);
    return { seen: 'failed', detail: `The host failed: ${name}: ${message}` };
  }
};

const maxShownChars = 200;

const shown = (text: string): string =>
  JSON.stringify(text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text);
