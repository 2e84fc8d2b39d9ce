import { Observable, type SchedulerLike, asyncScheduler } from 'rxjs';
import type { ErrorInfo } from '../contract/error-info.js';
import type {
  ModelCallContext,
  ModelDelta,
  ModelDriver,
  ModelDriverOutput,
  ModelRequest,
  ModelResponse,
} from '../contract/model.js';
import { response } from './builders.js';

/** One answer of a script. */
export type ScriptedAnswer =
  /** Text, streamed word by word. */
  | string
  | ModelResponse
  /** Emits these texts, then fails with the error. */
  | { readonly error: ErrorInfo; readonly after?: readonly string[] }
  /** Emits these texts and completes without an answer. */
  | { readonly cut: readonly string[] }
  /** Emits these texts and hangs until it is cancelled. */
  | { readonly never: readonly string[] };

/** An answer, or a function from the request to an answer. */
export type ScriptStep = ScriptedAnswer | ((request: ModelRequest, context: ModelCallContext) => ScriptedAnswer);

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /** Delay in milliseconds before each delta and each answer; without it the model answers synchronously. */
  readonly delayMs?: number | undefined;
  /** The clock of `delayMs`. @defaultValue `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A model driver with scripted answers that records its calls. */
export interface ScriptedModel extends ModelDriver {
  /** The requests, in order. */
  readonly requests: readonly ModelRequest[];
  /** The number of calls in progress. */
  readonly active: number;
  /** The number of calls that were cancelled before they ended. */
  readonly abandoned: number;
}

/**
 * Creates a model that answers from a script, one entry per call. A call beyond the script fails with the code
 * `'script-over'`.
 *
 * @example
 * ```ts
 * const model = scriptedModel([response(call('1', 'ls')), 'There are two files.']);
 * ```
 */
export const scriptedModel = (script: readonly ScriptStep[], options: ScriptedModelOptions = {}): ScriptedModel => {
  const requests: ModelRequest[] = [];
  const counts = { active: 0, abandoned: 0 };
  const driver: ModelDriver = (request, context) => {
    const step = script[requests.length];
    requests.push(request);
    return play(outputsOf(step, request, context), options, counts);
  };
  return Object.defineProperties(driver, {
    requests: { get: () => requests },
    active: { get: () => counts.active },
    abandoned: { get: () => counts.abandoned },
  }) as ScriptedModel;
};

/** The outputs of the driver, and whether it completes on its own. */
interface Outputs {
  readonly list: readonly ModelDriverOutput[];
  readonly isEndless?: boolean;
}

const outputsOf = (step: ScriptStep | undefined, request: ModelRequest, context: ModelCallContext): Outputs => {
  if (step === undefined) return { list: [{ type: 'error', error: scriptOver }] };
  const answer = typeof step === 'function' ? step(request, context) : step;
  if (typeof answer === 'string') {
    return { list: [...texts(answer.split(/(?<= )/)), { type: 'response', response: response(answer) }] };
  }
  if ('error' in answer) return { list: [...texts(answer.after ?? []), { type: 'error', error: answer.error }] };
  if ('cut' in answer) return { list: texts(answer.cut) };
  if ('never' in answer) return { list: texts(answer.never), isEndless: true };
  return { list: [...deltasOf(answer), { type: 'response', response: answer }] };
};

const scriptOver: ErrorInfo = {
  name: 'Error',
  code: 'script-over',
  message: 'The script has no answer for this call.',
};

const delta = (piece: ModelDelta): ModelDriverOutput => ({ type: 'delta', delta: piece });

const texts = (pieces: readonly string[]): readonly ModelDriverOutput[] =>
  pieces.map((text) => delta({ type: 'text', text }));

const deltasOf = ({ content }: ModelResponse): readonly ModelDriverOutput[] =>
  content.flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [delta({ type: part.type, text: part.text })];
    if (part.type !== 'tool-call') return [];
    const { toolCallId, toolName, input } = part;
    return [delta({ type: 'tool-input', toolCallId, toolName, text: JSON.stringify(input) ?? '' })];
  });

const play = (
  { list, isEndless = false }: Outputs,
  { delayMs, scheduler = asyncScheduler }: ScriptedModelOptions,
  counts: { active: number; abandoned: number },
): Observable<ModelDriverOutput> =>
  new Observable((subscriber) => {
    let ended = false;
    counts.active += 1;
    subscriber.add(() => {
      counts.active -= 1;
      if (!ended) counts.abandoned += 1;
    });
    const end = (): void => {
      if (isEndless) return;
      ended = true;
      subscriber.complete();
    };
    const say = (output: ModelDriverOutput): void => {
      if (output.type !== 'delta') ended = true;
      subscriber.next(output);
    };
    if (delayMs === undefined) {
      for (const output of list) say(output);
      end();
      return;
    }
    let place = 0;
    const tick = (): void => {
      const output = list[place];
      place += 1;
      if (output) say(output);
      if (subscriber.closed) return;
      if (place < list.length) subscriber.add(scheduler.schedule(tick, delayMs));
      else end();
    };
    subscriber.add(scheduler.schedule(tick, delayMs));
  });
