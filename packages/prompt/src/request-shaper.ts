import { charsPerToken } from '@h/tokens';
import type { CacheMark, JSONObject, Message, SystemBlock, TurnEventOf } from '@h/turn';
import { budgetMarks, countMarks, messageMarkCounter, type WantedMark } from './cache-marks.js';
import { hashText } from './hash.js';
import type { PrefixPrint } from './kept-prompt.js';
import type { CheckedOptions } from './options.js';
import type { SortedTools } from './prompt-memo.js';
import { volatileMessage, type TextSection } from './tail-message.js';
import type { StableSections } from './stable-sections.js';

type Request = TurnEventOf<'model.request'>;

/** Name of the annotation on shaped requests. */
export const annotationName = 'prompt';

/** Value of `annotations.prompt`. */
export interface PromptAnnotation {
  /** Hash of the rendered text of each tier and of the tool definitions. Equal hashes mean equal bytes. */
  readonly renderHash: {
    readonly tools: string;
    readonly frozen: string;
    readonly session: string;
    readonly volatile: string;
  };
  /** Length of the rendered text of each tier. */
  readonly chars: { readonly frozen: number; readonly session: number; readonly volatile: number };
}

/** A request with its prompt, and the fingerprint of its cached prefix. */
export interface Shaped {
  readonly request: Request;
  readonly prefix: PrefixPrint;
}

/** Whether a request already carries its prompt. */
export const isShaped = ({ annotations }: Request): boolean => annotations?.[annotationName] !== undefined;

/** Creates a function that adds sections to the requests of a turn and reuses unchanged parts. */
export const requestShaper = (
  options: CheckedOptions,
): ((request: Request, stable: StableSections, volatile: readonly TextSection[]) => Shaped) => {
  const headOf = headRenderer(options);
  const tailOf = tailRenderer();
  const annotationOf = annotationRenderer();
  return (request, stable, sections) => {
    const head = headOf(request, stable);
    const tail = tailOf(sections);
    const annotation = annotationOf(head, tail);
    // New members come first: adding them after a spread is several times slower.
    const { system: _, tools: __, tail: before, cacheMessages: ___, annotations, ...rest } = request;
    const shaped: Request = {
      system: head.system,
      tools: head.tools,
      tail: tail.message === undefined ? before : [...before, tail.message],
      cacheMessages: head.cacheMessages,
      annotations: annotations === undefined ? annotation : { ...annotations, ...annotation },
      ...rest,
    };
    return { request: shaped, prefix: head.prefix };
  };
};

/** The part of a request that stays the same between steps. */
interface Head {
  readonly system: readonly SystemBlock[];
  readonly tools: Request['tools'];
  readonly cacheMessages: Request['cacheMessages'];
  readonly stable: StableSections;
  readonly prefix: PrefixPrint;
}

/** Renders blocks, tools and marks. Returns the previous head if its inputs are unchanged. */
const headRenderer = ({ cache, caching }: CheckedOptions): ((request: Request, stable: StableSections) => Head) => {
  const marksOf = messageMarkCounter();
  let last: { readonly key: readonly unknown[]; readonly head: Head } | undefined;
  return (request, stable) => {
    const { system, tools, messages, cacheMessages } = request;
    const taken = caching ? marksOf(messages) + (cacheMessages ? 1 : 0) : 0;
    const print = cache.print(system);
    const key = [print, tools, stable, taken, cacheMessages];
    if (last && key.every((value, index) => value === last?.key[index])) return last.head;
    const sorted = cache.sortTools(tools);
    const { frozen, session } = stable;
    const marks = caching && grantedMarks(request, sorted, stable, taken, caching);
    const mark = markFor(caching?.stable);
    const blocks = [...system];
    if (frozen.text !== '') {
      blocks.push(marks?.has('frozen') ? { text: frozen.text, cache: mark } : { text: frozen.text });
    }
    if (session.text !== '') {
      blocks.push(marks?.has('session') ? { text: session.text, cache: mark } : { text: session.text });
    }
    const head: Head = {
      system: blocks,
      tools: sorted.tools,
      cacheMessages: marks?.has('messages') ? markFor(caching?.messages) : cacheMessages,
      stable,
      prefix: { tools: sorted, system: print, frozen, session },
    };
    last = { key, head };
    return head;
  };
};

/** Five minutes is the default of a mark, and the only duration that every provider supports. */
const markFor = (ttl: CacheMark['ttl']): CacheMark => (ttl === '1h' ? { ttl } : {});

const grantedMarks = (
  request: Request,
  sorted: SortedTools,
  stable: StableSections,
  taken: number,
  { maxMarks, minTokens }: NonNullable<CheckedOptions['caching']>,
): ReadonlySet<string> =>
  budgetMarks(wantedMarks(request, sorted, stable), {
    limit: maxMarks,
    taken: taken + countMarks(request.system, request.tools),
    minTokens,
  });

/** By priority: the history, which is the longest prefix, then the session tier, then the frozen tier. */
const wantedMarks = (
  { messages, cacheMessages, system }: Request,
  sorted: SortedTools,
  { frozen, session }: StableSections,
): readonly WantedMark[] => {
  let { chars } = sorted;
  for (const { text } of system) chars += text.length;
  const frozenTokens = (chars + frozen.text.length) / charsPerToken;
  const sessionTokens = frozenTokens + session.text.length / charsPerToken;
  return [
    ...(messages.length > 0 && cacheMessages === undefined ? [{ id: 'messages', tokens: Infinity }] : []),
    ...(session.text === '' ? [] : [{ id: 'session', tokens: sessionTokens }]),
    ...(frozen.text === '' ? [] : [{ id: 'frozen', tokens: frozenTokens }]),
  ];
};

interface Tail {
  readonly message: Message | undefined;
  readonly hash: string;
  readonly chars: number;
}

const emptyTail: Tail = { message: undefined, hash: hashText(''), chars: 0 };

/** Renders the volatile sections. Returns the previous message if they are unchanged. */
const tailRenderer = (): ((sections: readonly TextSection[]) => Tail) => {
  let before: readonly TextSection[] = [];
  let tail = emptyTail;
  return (sections) => {
    const isSame =
      sections.length === before.length &&
      sections.every(({ id, text }, index) => id === before[index]?.id && text === before[index]?.text);
    before = sections;
    if (isSame) return tail;
    const message = volatileMessage(sections);
    const text = message === undefined ? '' : (message.content as string);
    tail = message === undefined ? emptyTail : { message, hash: hashText(text), chars: text.length };
    return tail;
  };
};

/** Renders the annotation. Returns the previous one if head and tail are unchanged. */
const annotationRenderer = (): ((head: Head, tail: Tail) => JSONObject) => {
  let last: { readonly head: Head; readonly tail: Tail; readonly annotation: JSONObject } | undefined;
  return (head, tail) => {
    if (last?.head === head && last.tail === tail) return last.annotation;
    const { frozen, session } = head.stable;
    const own: PromptAnnotation = {
      renderHash: { tools: head.prefix.tools.hash, frozen: frozen.hash, session: session.hash, volatile: tail.hash },
      chars: { frozen: frozen.text.length, session: session.text.length, volatile: tail.chars },
    };
    const annotation = { [annotationName]: own as unknown as JSONObject };
    last = { head, tail, annotation };
    return annotation;
  };
};
