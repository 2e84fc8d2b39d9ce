import {
  intercept,
  toolCallsOf,
  type DecisionInput,
  type ToolResultOutput,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import {
  anyFunction,
  anyOf,
  anyString,
  anyValue,
  arrayOf,
  checkOptions,
  integerFrom,
  InvalidOptionError,
  numberFrom,
  objectWithMethods,
  oneOf,
} from '@h/options';
import { readArtifactName } from './artifacts/read-artifact.js';
import type { ArtifactStore } from './artifacts/store.js';
import { isPlain } from './json-copy.js';
import { lateNote, type LateResult, type LateResults } from './late-results.js';
import { notRun } from './outcomes.js';
import type { Keeper, KeptPlaces, Redactor } from './shaping/keep.js';
import { limitsFor, stepBudget, type ResultLimits, type StepBudget } from './shaping/limits.js';
import { measured, shape } from './shaping/shape.js';

/** Options of {@link tools}. */
export interface ToolsOptions {
  /**
   * Maximum number of characters of text in a result.
   *
   * @defaultValue 16,000; 32,000 for context windows from 100,000 tokens on, 64,000 from 200,000 on. Never more than
   * 30 % of the window, if it is known
   */
  readonly maxChars?: number | undefined;
  /**
   * Maximum number of characters of text in all results of a step.
   *
   * @defaultValue four times `maxChars`, but at most half of the window
   */
  readonly maxStepChars?: number | undefined;
  /**
   * The context window in tokens, or a function that returns it for a model. An unknown window counts as small.
   */
  readonly contextWindow?: number | ((model: string | undefined) => number | undefined) | undefined;
  /** Stores results that are too long in full. Without it the cut text is lost. */
  readonly artifacts?: ArtifactStore | undefined;
  /**
   * Removes secrets from a result before it is stored. Required with `artifacts`; `false` stores results unchanged.
   */
  readonly redact?: Redactor | false | undefined;
  /**
   * Tools whose results are cut but never stored, because the model can request a smaller part.
   *
   * @defaultValue `['read_artifact']`
   */
  readonly exempt?: readonly string[] | undefined;
  /**
   * Maximum size of an image or PDF that is passed to the model, in bytes. Larger ones, those after the first 20 of
   * a result, and other files are described.
   *
   * @defaultValue `3_750_000`, which is 5 MB in base64, the smallest limit among providers
   */
  readonly maxFileBytes?: number | undefined;
  /**
   * Maximum number of tool calls of one answer. Further calls are answered `skipped`.
   *
   * @defaultValue `128`, the number of tools that the OpenAI API accepts in one request; answers of current models have
   * rarely more than 20 calls
   */
  readonly maxCallsPerStep?: number | undefined;
  /** The driver of the harness, to report late results to the model. */
  readonly driver?: { readonly late: LateResults; forget(turn: string): void } | undefined;
}

/** A result that passed this operator and is not observed yet. */
interface PendingResult {
  readonly output: ToolResultOutput;
  /** The characters of Latin text that it equals after it was cut. */
  readonly chars: number;
}

/**
 * Fits tool results into the context window: results that are too long are stored and cut, with a note that says where
 * the rest is. Files that models cannot read are described.
 *
 * Belongs late in the pipeline but before `security()`, so that no cut removes the end of a wrapper.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const operator = tools({ driver, contextWindow: 200_000, artifacts: memoryArtifacts(), redact });
 * harness({ model, tools: driver }).pipe(operator);
 * ```
 */
export const tools = (options: ToolsOptions = {}): TurnOperator => {
  checkToolsOptions(options);
  const { driver } = options;
  return intercept('tools', {
    setup: () => new TurnResults(options),
    observe: {
      'turn.start': (results, event) => results.open(event),
      'session.loaded': (results, event) => results.open(event),
      'input.received': ({ turn }) => driver?.forget(turn),
      'model.request': (results, event) => results.requested(event),
      'model.response': (results, event) => results.answered(event),
      'tool.result': (results, event) => results.left(event),
    },
    decide: {
      'model.request': (results, event) => results.reportLate(event),
      'tool.call': (results, event) => results.skip(event),
      'tool.result': (results, event) => results.fit(event),
    },
    finalize: ({ turn }) => driver?.forget(turn),
  });
};

/** The tool results of one turn: how much of each step's room they take, and where they are stored. */
class TurnResults {
  turn = '';
  readonly #options: ToolsOptions;
  readonly #exempt: readonly string[];
  readonly #maxFileBytes: number;
  readonly #maxCallsPerStep: number;
  #session = '';
  /** Where results were stored, by call. */
  #kept: Map<string, Promise<KeptPlaces>> | undefined;
  /** Results that are on their way, by call; the budget of a step counts them as spent. */
  #pending: Map<string, PendingResult> | undefined;
  #limits: ResultLimits;
  #budget: StepBudget;
  #hasReader = false;
  #reported: readonly LateResult[] = none;
  #surplus: ReadonlySet<string> | undefined;

  constructor(options: ToolsOptions) {
    const { exempt = defaultExempt, maxFileBytes = 3_750_000, maxCallsPerStep = 128 } = options;
    this.#options = options;
    this.#exempt = exempt;
    this.#maxFileBytes = maxFileBytes;
    this.#maxCallsPerStep = maxCallsPerStep;
    this.#limits = limitsOf(options);
    this.#budget = stepBudget(this.#limits.maxStepChars, 1);
  }

  open({ turn, session }: { readonly turn: string; readonly session: string }): void {
    this.turn = turn;
    this.#session = session;
  }

  requested({ model, tools: offered }: TurnEventOf<'model.request'>): void {
    this.#limits = limitsOf(this.#options, model);
    this.#hasReader = offered.some(({ name }) => name === readArtifactName);
  }

  answered({ content }: TurnEventOf<'model.response'>): void {
    const calls = toolCallsOf({ role: 'assistant', content });
    const max = this.#maxCallsPerStep;
    this.#surplus = calls.length > max ? idsOf(calls.slice(max)) : undefined;
    this.#budget = stepBudget(this.#limits.maxStepChars, Math.min(calls.length, max));
    this.#pending?.clear();
    if (this.#reported.length > 0) this.#options.driver?.late.settle(this.#session, this.#reported);
    this.#reported = none;
  }

  /** Counts a result that has left the pipeline. */
  left(event: TurnEventOf<'tool.result'>): void {
    const before = this.#pending?.get(event.call.id);
    this.#pending?.delete(event.call.id);
    if (this.#surplus?.has(event.call.id) === true) return;
    this.#budget.spend(before?.output === event.output ? before.chars : this.#charsOf(event));
  }

  reportLate(event: TurnEventOf<'model.request'>): DecisionInput {
    this.#reported = this.#options.driver?.late.of(this.#session) ?? none;
    return this.#reported.length === 0 ? undefined : { ...event, tail: [...event.tail, lateNote(this.#reported)] };
  }

  skip({ turn, at, step, call, denied }: TurnEventOf<'tool.call'>): DecisionInput {
    if (denied !== undefined || this.#surplus?.has(call.id) !== true) return undefined;
    const outcome = notRun('skipped', tooManyCalls(this.#maxCallsPerStep));
    return { type: 'tool.result', turn, at, step, call, ...outcome };
  }

  fit(event: TurnEventOf<'tool.result'>): DecisionInput {
    const result = measured(event, this.#maxFileBytes);
    const { size, weight } = result;
    const { maxChars, shareChars } = this.#limits;
    const pending = (this.#pending ??= new Map<string, PendingResult>());
    const allowance = this.#budget.allowance(Array.from(pending.values(), ({ chars }) => chars));
    const cap = Math.floor(Math.min(maxChars, shareChars / weight, allowance / weight));
    pending.set(event.call.id, { output: event.output, chars: Math.min(size, cap) * weight });
    const onKeeping = (places: Promise<KeptPlaces>): void => {
      (this.#kept ??= new Map<string, Promise<KeptPlaces>>()).set(event.call.id, places);
    };
    return shape(result, { cap, keeper: this.#keeperOf(event), hasReader: this.#hasReader, onKeeping });
  }

  #keeperOf({ call, details }: TurnEventOf<'tool.result'>): Keeper | undefined {
    const { artifacts: store, redact } = this.#options;
    if (store === undefined || this.#exempt.includes(call.name)) return undefined;
    const marks = isPlain(details) ? details : {};
    return {
      store,
      redact: redact || ((text) => text),
      session: this.#session,
      external: marks['external'] === true,
      earlier: typeof marks['replayOf'] === 'string' ? this.#kept?.get(marks['replayOf']) : undefined,
    };
  }

  #charsOf(event: TurnEventOf<'tool.result'>): number {
    const { size, weight } = measured(event, this.#maxFileBytes);
    return size * weight;
  }
}

const none: readonly never[] = [];
const defaultExempt: readonly string[] = [readArtifactName];

const limitsOf = (options: ToolsOptions, model?: string): ResultLimits => {
  const { contextWindow } = options;
  return limitsFor(typeof contextWindow === 'function' ? contextWindow(model) : contextWindow, options);
};

const idsOf = (calls: readonly { readonly toolCallId: string }[]): ReadonlySet<string> =>
  new Set(calls.map(({ toolCallId }) => toolCallId));

const tooManyCalls = (limit: number): string =>
  `Not run: an answer may have at most ${limit} tool calls. Repeat this call in a later answer if it is still needed.`;

const checkToolsOptions = (options: ToolsOptions): void => {
  checkOptions('tools()', options, {
    maxChars: numberFrom(0, Infinity),
    maxStepChars: numberFrom(0, Infinity),
    contextWindow: anyOf(numberFrom(1, Infinity), anyFunction),
    artifacts: anyValue,
    redact: anyOf(anyFunction, oneOf(false)),
    exempt: arrayOf(anyString),
    maxFileBytes: numberFrom(0, Infinity),
    maxCallsPerStep: integerFrom(1, Infinity),
    driver: objectWithMethods('forget'),
  });
  if (options.artifacts === undefined || options.redact !== undefined) return;
  const message =
    'tools(): "redact" is required with "artifacts"; pass a function that removes secrets from stored results, or false.';
  throw new InvalidOptionError({ owner: 'tools()', option: 'redact', message });
};
