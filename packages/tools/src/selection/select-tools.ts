import {
  annotate,
  intercept,
  notice,
  textOf,
  toErrorInfo,
  type DecisionInput,
  type ErrorInfo,
  type OperatorContext,
  type ToolDefinition,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { anyFunction, anyString, arrayOf, checkOptions, integerFrom, numberFrom } from '@h/options';
import { matchesAny } from '@h/wildcard';
import { readArtifactName } from '../artifacts/read-artifact.js';
import { keywordScorer, type ToolScorer } from './scorers.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** The tools of a turn could not be selected, so all of them are offered. */
    'tools.unselected': { readonly error: ErrorInfo };
  }
}

/** Options of {@link selectTools}. */
export interface SelectToolsOptions {
  /**
   * Maximum number of tools in a request, including those of `always`.
   *
   * @defaultValue `20`, the number up to which the guide of OpenAI expects a model to choose well
   */
  readonly maxTools?: number | undefined;
  /**
   * Tools that are always offered; `*` matches any characters.
   *
   * @defaultValue `['read_artifact']`
   */
  readonly always?: readonly string[] | undefined;
  /**
   * Ranks the tools for a request.
   *
   * @defaultValue `keywordScorer()`
   */
  readonly scorer?: ToolScorer | undefined;
  /**
   * Time limit of the scorer, in milliseconds; all tools are offered after it.
   *
   * @defaultValue `5_000`, many times the duration of a request for embeddings
   */
  readonly timeoutMs?: number | undefined;
}

/** Also the name of its annotation on the request for which the tools were selected. */
const operatorName = 'select-tools';
/** User messages that form the query: the latest alone may only be "yes, do it". */
const maxMessages = 3;
const maxQuery = 4_000;

/**
 * Offers the model only the tools that serve its turn, if there are many.
 *
 * The selection is made at the first request of a turn and kept until its end, because prompt caches begin with the
 * tools. It is not a permission: the toolset of the driver decides what may be called.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * harness(drivers).pipe(selectTools({ maxTools: 12, always: ['read', 'bash'] }), tools());
 * ```
 */
export const selectTools = (options: SelectToolsOptions = {}): TurnOperator => {
  checkOptions('selectTools()', options, {
    maxTools: integerFrom(1),
    always: arrayOf(anyString),
    scorer: anyFunction,
    timeoutMs: numberFrom(0, Infinity),
  });
  const { maxTools = 20, always = [readArtifactName], scorer = keywordScorer(), timeoutMs = 5_000 } = options;
  return intercept(operatorName, (context) => {
    let chosen: ReadonlySet<string> | undefined;
    let last: { readonly from: readonly ToolDefinition[]; readonly tools: readonly ToolDefinition[] } | undefined;

    /** Returns the selected tools; the same array for the same input. */
    const narrowed = (from: readonly ToolDefinition[]): readonly ToolDefinition[] => {
      if (last?.from !== from) last = { from, tools: from.filter(({ name }) => chosen?.has(name)) };
      return last.tools;
    };
    /** Offers these tools and annotates the request with them, so that `observe` restores them on a resume. */
    const offer = (event: TurnEventOf<'model.request'>, names: readonly string[]): TurnEventOf<'model.request'> => {
      const offered = new Set(names);
      const tools = event.tools.filter(({ name }) => offered.has(name));
      last = { from: event.tools, tools };
      return annotate({ ...event, tools }, operatorName, names);
    };
    const choose = (event: TurnEventOf<'model.request'>, scores: readonly number[]): TurnEventOf<'model.request'> =>
      offer(event, best(event, scores, { maxTools, always }));
    const decide = (event: TurnEventOf<'model.request'>, signal: AbortSignal): DecisionInput => {
      if (chosen !== undefined) return { ...event, tools: narrowed(event.tools) };
      if (event.tools.length <= maxTools) return undefined;
      const offerAll = (error: unknown): DecisionInput => {
        const all = event.tools.map(({ name }) => name);
        return [offer(event, all), notice('tools.unselected', { error: toErrorInfo(error) })];
      };
      try {
        const scores = scorer(queryOf(event), event.tools, { signal });
        if (!('then' in scores)) return choose(event, checked(scores, event.tools));
        return inTime(scores, timeoutMs, context)
          .then((settled) => choose(event, checked(settled, event.tools)))
          .catch(offerAll) as Promise<TurnEventOf<'model.request'>>;
      } catch (error) {
        return offerAll(error);
      }
    };
    return {
      observe: {
        'model.request': ({ annotations }) => {
          const names = annotations?.[operatorName];
          if (Array.isArray(names)) chosen = new Set(names as readonly string[]);
        },
      },
      decide: { 'model.request': (event, { signal }) => decide(event, signal) },
    };
  });
};

const queryOf = ({ messages, tail }: TurnEventOf<'model.request'>): string => {
  const texts: string[] = [];
  for (let index = messages.length - 1; index >= 0 && texts.length < maxMessages; index -= 1) {
    const message = messages.at(index);
    if (message?.role === 'user' && message.metadata?.internal !== true) texts.push(textOf(message));
  }
  for (const message of tail) {
    if (message.role === 'user' && message.metadata?.internal !== true) texts.push(textOf(message));
  }
  return texts.join('\n').slice(0, maxQuery);
};

/** Returns the names of required tools, then of those with the best scores; ties go to the first by name. */
const best = (
  { tools, settings }: TurnEventOf<'model.request'>,
  scores: readonly number[],
  { maxTools, always }: { readonly maxTools: number; readonly always: readonly string[] },
): readonly string[] => {
  const required = typeof settings.toolChoice === 'object' ? settings.toolChoice.toolName : undefined;
  const isOn = ({ name }: ToolDefinition): boolean => name === required || matchesAny(always, name);
  const chosen = new Set(tools.filter(isOn).map(({ name }) => name));
  const ranked = [...tools.keys()].toSorted(
    (left, right) => (scores[right] as number) - (scores[left] as number) || left - right,
  );
  for (const index of ranked) {
    if (chosen.size >= maxTools) break;
    chosen.add((tools[index] as ToolDefinition).name);
  }
  return [...chosen];
};

const checked = (scores: readonly number[], tools: readonly ToolDefinition[]): readonly number[] => {
  if (scores.length === tools.length && scores.every((score) => Number.isFinite(score))) return scores;
  throw new TypeError(`The scorer must return a finite number for each of the ${tools.length} tools.`);
};

const inTime = <Value>(value: PromiseLike<Value>, timeoutMs: number, context: OperatorContext): Promise<Value> =>
  new Promise((resolve, reject) => {
    const cancel = context.after(timeoutMs, () => reject(new Error(`The scorer took longer than ${timeoutMs} ms.`)));
    value.then(
      (settled) => {
        cancel();
        resolve(settled);
      },
      (error: unknown) => {
        cancel();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what the scorer has thrown
        reject(error);
      },
    );
  });
