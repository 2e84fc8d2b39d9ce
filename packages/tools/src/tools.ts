import { intercept, toolCallsOf, type DecisionInput, type TurnEventOf, type TurnOperator } from '@h/turn';
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
   * How many characters of text a result may have.
   *
   * @defaultValue 16,000; 32,000 for context windows from 100,000 tokens on, 64,000 from 200,000 on. Never more than
   * 30 % of the window, where that is known
   */
  readonly maxChars?: number | undefined;
  /**
   * How many characters of text the results of one step may have together.
   *
   * @defaultValue four times `maxChars`, and never more than half of the window
   */
  readonly maxStepChars?: number | undefined;
  /**
   * The context window in tokens, or a function that knows it for a model. Without it the window counts as small.
   */
  readonly contextWindow?: number | ((model: string | undefined) => number | undefined) | undefined;
  /** Where results that are too long are stored in full. Without it what is cut off is lost. */
  readonly artifacts?: ArtifactStore | undefined;
  /**
   * Takes secrets out of a result before it is stored. It has to be given together with `artifacts`; `false` says that
   * results may be stored as they are.
   */
  readonly redact?: Redactor | false | undefined;
  /**
   * Tools whose results are cut but never stored, because they can be asked for a smaller part.
   *
   * @defaultValue `['read_artifact']`
   */
  readonly exempt?: readonly string[] | undefined;
  /**
   * How big an image or PDF may be that is handed to the model, in bytes. Bigger ones, and all other files, are described.
   *
   * @defaultValue `3_750_000`, which is 5 MB in base64, the smallest limit among providers
   */
  readonly maxFileBytes?: number | undefined;
  /**
   * How many tool calls of one answer run. The others are answered `skipped`, and the model is told to split the work.
   *
   * @defaultValue `128`, the number of tools that the OpenAI API accepts in one request; answers of current models have
   * rarely more than 20 calls
   */
  readonly maxCallsPerStep?: number | undefined;
  /** The driver of the harness: then the model hears of calls that completed after they had been given up. */
  readonly driver?: { readonly late: LateResults; forget(turn: string): void } | undefined;
}

/**
 * Fits results into the context: stores what is too long, cuts it to its cap and says where the rest is; one cap for each
 * result and one for all results of a step. Files that models cannot read are described.
 *
 * Belongs late in the pipeline, but before `security()`, so that no cut goes through the wrapper of external content.
 *
 * @throws InvalidOptionError
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
  return intercept('tools', () => {
    const place = { turn: '', session: '' };
    const kept = new Map<string, Promise<KeptPlaces>>();
    let limits = limitsOf();
    let budget: StepBudget = stepBudget(limits.maxStepChars, 1);
    let hasReader = false;
    let told: readonly LateResult[] = [];
    let surplus: ReadonlySet<string> | undefined;

    const open = ({ turn, session }: { readonly turn: string; readonly session: string }): void => {
      Object.assign(place, { turn, session });
    };
    const forget = (): void => driver?.forget(place.turn);
    const tellLate = (event: TurnEventOf<'model.request'>): DecisionInput => {
      told = driver?.late.of(place.session) ?? [];
      return told.length === 0 ? undefined : { ...event, tail: [...event.tail, lateNote(told)] };
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
    const fit = (event: TurnEventOf<'tool.result'>): DecisionInput => {
      const result = measured(event, maxFileBytes);
      const { size, weight } = result;
      const cap = Math.floor(Math.min(limits.maxChars, limits.shareChars / weight, budget.allowance() / weight));
      budget.spend(Math.min(size, cap) * weight);
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
        'model.response': ({ content, replayed }) => {
          const calls = toolCallsOf({ role: 'assistant', content });
          surplus = calls.length > maxCallsPerStep ? idsOf(calls.slice(maxCallsPerStep)) : undefined;
          budget = stepBudget(limits.maxStepChars, Math.min(calls.length, maxCallsPerStep));
          if (replayed !== true) driver?.late.settle(place.session, told);
          told = [];
        },
        'tool.result': (event) => {
          if (event.replayed !== true) return;
          const { size, weight } = measured(event, maxFileBytes);
          budget.spend(size * weight);
        },
      },
      decide: { 'model.request': tellLate, 'tool.call': skip, 'tool.result': fit },
      finalize: forget,
    };
  });
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
