import {
  intercept,
  toolCallsOf,
  type DecisionInput,
  type Handlers,
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
import { lateNote } from './late-note.js';
import type { LateResult, LateResults } from './late-results.js';
import { notRun } from './outcomes.js';
import type { Keeper, KeptPlaces, Redactor } from './shaping/keep.js';
import { limitsFor, stepBudget, type StepBudget } from './shaping/limits.js';
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
   * Maximum size of an image or PDF that is passed to the model, in bytes. Larger ones and other files are described.
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
 * harness({ model, tools: driver }).pipe(tools({ driver, contextWindow: 200_000, artifacts: memoryArtifacts(), redact }));
 * ```
 */
export const tools = (options: ToolsOptions = {}): TurnOperator => {
  checkToolsOptions(options);
  const { contextWindow, driver, exempt = [readArtifactName], maxFileBytes = 3_750_000 } = options;
  const { maxCallsPerStep = 128 } = options;
  const limitsOf = (model?: string) =>
    limitsFor(typeof contextWindow === 'function' ? contextWindow(model) : contextWindow, options);
  const setup = (): Handlers => {
    const place = { turn: '', session: '' };
    const kept = new Map<string, Promise<KeptPlaces>>();
    /** Results that are on their way, by call; the budget of a step counts them as spent. */
    const pending = new Map<string, PendingResult>();
    let limits = limitsOf();
    let budget: StepBudget = stepBudget(limits.maxStepChars, 1);
    let hasReader = false;
    let reported: readonly LateResult[] = [];
    let surplus: ReadonlySet<string> | undefined;

    const open = ({ turn, session }: { readonly turn: string; readonly session: string }): void => {
      Object.assign(place, { turn, session });
    };
    const forget = (): void => driver?.forget(place.turn);
    const reportLate = (event: TurnEventOf<'model.request'>): DecisionInput => {
      reported = driver?.late.of(place.session) ?? [];
      return reported.length === 0 ? undefined : { ...event, tail: [...event.tail, lateNote(reported)] };
    };
    const keeperOf = ({ call, details }: TurnEventOf<'tool.result'>): Keeper | undefined => {
      if (options.artifacts === undefined || exempt.includes(call.name)) return undefined;
      const marks = isPlain(details) ? details : {};
      const earlier = typeof marks['replayOf'] === 'string' ? kept.get(marks['replayOf']) : undefined;
      const redact = options.redact || ((text: string) => text);
      return {
        store: options.artifacts,
        redact,
        session: place.session,
        external: marks['external'] === true,
        earlier,
      };
    };
    const charsOf = (event: TurnEventOf<'tool.result'>): number => {
      const { size, weight } = measured(event, maxFileBytes);
      return size * weight;
    };
    const fit = (event: TurnEventOf<'tool.result'>): DecisionInput => {
      const result = measured(event, maxFileBytes);
      const { size, weight } = result;
      const allowance = budget.allowance([...pending.values()].map(({ chars }) => chars));
      const cap = Math.floor(Math.min(limits.maxChars, limits.shareChars / weight, allowance / weight));
      pending.set(event.call.id, { output: event.output, chars: Math.min(size, cap) * weight });
      const onKeeping = (places: Promise<KeptPlaces>): void => void kept.set(event.call.id, places);
      return shape(result, { cap, keeper: keeperOf(event), hasReader, onKeeping });
    };

    const skip = ({ turn, at, step, call, denied }: TurnEventOf<'tool.call'>): DecisionInput =>
      denied !== undefined || surplus?.has(call.id) !== true
        ? undefined
        : { type: 'tool.result', turn, at, step, call, ...notRun('skipped', tooManyCalls(maxCallsPerStep)) };

    return {
      observe: {
        'turn.start': open,
        'session.loaded': open,
        'input.received': forget,
        'model.request': ({ model, tools: offered }) => {
          limits = limitsOf(model);
          hasReader = offered.some(({ name }) => name === readArtifactName);
        },
        'model.response': ({ content }) => {
          const calls = toolCallsOf({ role: 'assistant', content });
          surplus = calls.length > maxCallsPerStep ? idsOf(calls.slice(maxCallsPerStep)) : undefined;
          budget = stepBudget(limits.maxStepChars, Math.min(calls.length, maxCallsPerStep));
          pending.clear();
          if (reported.length > 0) driver?.late.settle(place.session, reported);
          reported = [];
        },
        'tool.result': (event) => {
          const before = pending.get(event.call.id);
          pending.delete(event.call.id);
          if (surplus?.has(event.call.id) === true) return;
          budget.spend(before?.output === event.output ? before.chars : charsOf(event));
        },
      },
      decide: { 'model.request': reportLate, 'tool.call': skip, 'tool.result': fit },
      finalize: forget,
    };
  };
  return intercept('tools', setup);
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
