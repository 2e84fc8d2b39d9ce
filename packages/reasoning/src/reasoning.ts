import {
  intercept,
  notice,
  textOf,
  type Handlers,
  type Message,
  type OperatorContext,
  type TurnEventOf,
  type TurnOperator,
  type UserMessage,
} from '@h/turn';
import {
  anyFunction,
  arrayOf,
  checkOptions,
  InvalidOptionError,
  integerFrom,
  nonEmptyString,
  numberFrom,
  objectOf,
  oneOf,
  recordOf,
} from '@h/options';
import {
  chooseEffort,
  defaultEffortRules,
  fitEffort,
  reasoningEfforts,
  type EffortRules,
  type ReasoningEffort,
} from './effort.js';
import { reasoningModelOf, type ReasoningModel } from './providers.js';
import { hasThoughtBeforeResults, metadataName, prefixHasher, ShapedHistory } from './shaped-history.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** What the turn spent on reasoning. Emitted before `turn.end`, if a model was called. */
    'reasoning.used': {
      /** The effort of the last request; absent if none was set. */
      readonly effort?: ReasoningEffort | undefined;
      /** Reasoning tokens, as the provider reports them. */
      readonly tokens: number;
      /** All tokens that the model wrote, reasoning included. */
      readonly outputTokens: number;
      /** Reasoning as a share of `outputTokens`, from 0 to 1. */
      readonly share: number;
    };
  }
}

/** Options of {@link reasoning}. */
export interface ReasoningOptions {
  /**
   * The effort of every request, as far as the model accepts it: only `maxReasoningTokens` lowers it. `auto` chooses by
   * the rules.
   *
   * @defaultValue `'auto'`
   */
  readonly effort?: ReasoningEffort | 'auto' | undefined;
  /**
   * Changes to the rules of `auto`.
   *
   * @defaultValue {@link defaultEffortRules}
   */
  readonly rules?: Partial<EffortRules> | undefined;
  /** Words in the user's input that set the effort of the turn. The longest one found applies. */
  readonly words?: Readonly<Record<string, ReasoningEffort>> | undefined;
  /**
   * The number of reasoning tokens that a turn may use. Then the effort drops to the lowest that the model accepts; the
   * turn continues.
   *
   * @defaultValue `Infinity`
   */
  readonly maxReasoningTokens?: number | undefined;
  /** Returns the share of a budget that is left, from 0 to 1. Called before each request. */
  readonly budgetLeft?: (() => number) | undefined;
  /**
   * Notices that raise the effort for the rest of the turn.
   *
   * @defaultValue `['loop.warning']`
   */
  readonly raiseOn?: readonly string[] | undefined;
  /** Returns the rules of a model that has a private name; `undefined` for those of {@link reasoningModelOf}. */
  readonly modelOf?: ((name: string) => ReasoningModel | undefined) | undefined;
}

/** The members of the last request that later decisions need. */
interface Sent {
  readonly model: string | undefined;
  readonly effort: ReasoningEffort | undefined;
  /** What the reasoning of the answer is bound to; absent if it cannot be sent back. */
  readonly prefix: string | undefined;
}

/**
 * Chooses the reasoning effort of each request, and sends the reasoning of earlier steps and turns back as the provider
 * of this request requires.
 *
 * - The effort follows {@link chooseEffort}. Where another effort would invalidate the prompt cache, the turn keeps the one
 *   of its first request; only a limit lowers it. A request that already has an effort keeps it.
 * - The stored history is never changed. In the request, reasoning of other providers is dropped, and so is reasoning that
 *   its provider would reject because something before it has changed.
 * - `reasoning.used` reports the reasoning tokens at the end.
 *
 * Requests that name no model pass unchanged: set `defaultModel` of the harness.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown option or an invalid value
 *
 * @example
 * ```ts
 * harness({ model, defaultModel: 'anthropic/claude-opus-5-5' }).pipe(failover(), reasoning({ maxReasoningTokens: 50_000 }));
 * ```
 */
export const reasoning = (options: ReasoningOptions = {}): TurnOperator => {
  checkReasoningOptions(options);
  const { effort: wanted = 'auto', maxReasoningTokens = Infinity, budgetLeft, raiseOn = ['loop.warning'] } = options;
  const isFixed = wanted !== 'auto';
  const rules: EffortRules = { ...defaultEffortRules, ...options.rules };
  const askedIn = wordFinder(options.words ?? {});
  const modelOf = modelFinder(options.modelOf);

  const setup = (context: OperatorContext): Handlers => {
    const prefixOf = prefixHasher();
    let trigger = 'user';
    let asked: ReasoningEffort | undefined;
    let failures = 0;
    let isLooping = false;
    let sent: Sent | undefined;
    let calls = 0;
    let tokens = 0;
    let outputTokens = 0;
    let reader: { readonly key: string; readonly history: ShapedHistory } | undefined;

    const historyFor = (event: Request, name: string, model: ReasoningModel): ShapedHistory => {
      const prefix = model.history === 'bound' ? prefixOf(event) : undefined;
      const key = prefix === undefined ? name : `${name} ${prefix}`;
      if (reader?.key !== key) reader = { key, history: new ShapedHistory(model, prefix) };
      return reader.history;
    };

    const effortFor = (event: Request, model: ReasoningModel): ReasoningEffort | undefined => {
      if (event.settings.reasoning !== undefined || model.efforts.length === 0) return undefined;
      const held = model.holdsEffort && sent?.model === event.model ? sent?.effort : undefined;
      const facts = {
        trigger,
        step: event.step,
        asked: isFixed ? wanted : asked,
        failures,
        isLooping,
        budgetLeft: isFixed ? 1 : shareOf(budgetLeft?.()),
        timeLeftMs: isFixed ? Infinity : context.timeLeft(),
        isSpent: tokens >= maxReasoningTokens,
        held,
        isHeld: model.holdsEffort,
      };
      const accepted =
        held === undefined || held === 'none' ? model.efforts : model.efforts.filter((one) => one !== 'none');
      return fitEffort(chooseEffort(facts, rules), accepted);
    };

    const spent = (usage: { readonly reasoning: number; readonly output: number } | undefined): void => {
      tokens += usage?.reasoning ?? 0;
      outputTokens += usage?.output ?? 0;
    };

    return {
      observe: {
        ...Object.fromEntries(raiseOn.map((type) => [type, () => void (isLooping = true)])),
        'turn.start': (event) => {
          trigger = event.trigger;
          asked = askedIn(event.input);
        },
        'model.request': (event) => {
          const isBound = event.model !== undefined && modelOf(event.model).history === 'bound';
          const prefix = isBound && event.tail.length === 0 ? prefixOf(event) : undefined;
          sent = { model: event.model, effort: event.settings.reasoning, prefix };
          calls += 1;
        },
        'model.response': ({ usage }) => spent(usage),
        'model.error': ({ usage }) => spent(usage),
        'tool.result': ({ status }) => {
          if (status === 'ok' || status === 'stored') failures = 0;
          else if (failed.has(status)) failures += 1;
        },
      },
      decide: {
        'model.request': (event) => {
          if (event.model === undefined) return undefined;
          const model = modelOf(event.model);
          const messages = historyFor(event, event.model, model).for(event.messages);
          const mustStayOff = model.needsThoughtFirst === true && !hasThoughtBeforeResults(messages);
          const effort = mustStayOff ? 'none' : effortFor(event, model);
          if (messages === event.messages && effort === undefined) return undefined;
          return {
            ...event,
            messages,
            settings: effort === undefined ? event.settings : { ...event.settings, reasoning: effort },
          };
        },
        'history.append': (event) => {
          const prefix = sent?.prefix;
          if (event.origin !== 'response' || prefix === undefined) return undefined;
          if (!event.messages.some(hasReasoning)) return undefined;
          return { ...event, messages: event.messages.map((message) => withPrefix(message, prefix)) };
        },
        'history.replace': (event) =>
          event.messages.some(isBound) ? { ...event, messages: event.messages.map(withoutPrefix) } : undefined,
        'turn.end': (event) => {
          if (calls === 0) return undefined;
          const share = outputTokens === 0 ? 0 : tokens / outputTokens;
          const effort = sent?.effort;
          return [
            notice('reasoning.used', { ...(effort !== undefined && { effort }), tokens, outputTokens, share }),
            event,
          ];
        },
      },
    };
  };
  return intercept('reasoning', setup, {
    after: ['queue', 'guardrails', 'failover', 'prompt', 'skills', 'continuity', 'loop-detect', 'compaction'],
    before: ['observe'],
  });
};

type Request = TurnEventOf<'model.request'>;

const failed: ReadonlySet<string> = new Set(['failed', 'timed-out', 'invalid-input', 'unknown-tool']);

const hasReasoning = ({ content }: Message): boolean =>
  typeof content !== 'string' && content.some(({ type }) => type === 'reasoning' || type === 'reasoning-file');

const withPrefix = (message: Message, prefix: string): Message =>
  hasReasoning(message) ? { ...message, metadata: { ...message.metadata, [metadataName]: prefix } } : message;

const isBound = ({ metadata }: Message): boolean => metadata?.[metadataName] !== undefined;

/** What comes before the reasoning has changed, so no provider will accept it as bound again. */
const withoutPrefix = (message: Message): Message => {
  if (!isBound(message)) return message;
  const { [metadataName]: _, ...metadata } = message.metadata ?? {};
  return { ...message, metadata };
};

/** A function of the caller may return anything; what is not a number does not limit. */
const shareOf = (left: number | undefined): number => (left === undefined || Number.isNaN(left) ? 1 : left);

/** Finds the rules of a model; each name is looked up once. */
const modelFinder = (own: ReasoningOptions['modelOf']): ((name: string) => ReasoningModel) => {
  let last: { readonly name: string; readonly model: ReasoningModel } | undefined;
  return (name) => {
    if (last?.name !== name) last = { name, model: own?.(name) ?? reasoningModelOf(name) };
    return last.model;
  };
};

/** Finds the longest of the words in the text of the input, as whole words and in any case. */
const wordFinder = (
  words: Readonly<Record<string, ReasoningEffort>>,
): ((input: readonly UserMessage[]) => ReasoningEffort | undefined) => {
  const known = Object.entries(words)
    .map(([word, effort]) => ({ word: word.toLowerCase(), effort }))
    .toSorted((one, other) => other.word.length - one.word.length);
  if (known.length === 0) return () => undefined;
  return (input) => {
    const texts = input.filter(({ metadata }) => metadata?.internal !== true).map((one) => textOf(one).toLowerCase());
    return known.find(({ word }) => texts.some((text) => hasWord(text, word)))?.effort;
  };
};

const hasWord = (text: string, word: string): boolean => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  }
  return false;
};

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

const anEffort = oneOf(...reasoningEfforts);

const checkReasoningOptions = (options: ReasoningOptions): void => {
  checkOptions('reasoning()', options, {
    effort: oneOf('auto', ...reasoningEfforts),
    rules: objectOf({
      triggers: recordOf(anEffort),
      other: anEffort,
      failures: integerFrom(1),
      raisedAtMost: anEffort,
      lowBudget: numberFrom(0, 1),
      shortTimeMs: numberFrom(0),
    }),
    words: recordOf(anEffort),
    maxReasoningTokens: integerFrom(0, Infinity),
    budgetLeft: anyFunction,
    raiseOn: arrayOf(nonEmptyString),
    modelOf: anyFunction,
  });
  if (Object.keys(options.words ?? {}).some((word) => word.trim() === '')) {
    throw new InvalidOptionError({
      owner: 'reasoning()',
      option: 'words',
      message: 'reasoning(): a key of "words" is blank, which every input contains. Give it a word, or remove it.',
    });
  }
};
