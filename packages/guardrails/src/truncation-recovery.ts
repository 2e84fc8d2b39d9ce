import { type AssistantPart, type NewEventOf, proceed, type TurnEventOf, type UserMessage } from '@h/turn';

/** The `kind` of the message that asks a model to continue. */
export const recoveryKind = 'max-tokens-recovery';

const continueMessage: UserMessage = {
  role: 'user',
  content:
    'Your message was cut off at the output limit. Continue with the very next character: do not repeat any of it, and add no comment or greeting. If much is left, be brief.',
  metadata: { internal: true, kind: recoveryKind },
};

/** Why a truncated answer does not continue: it was empty, was truncated too often, or a limit allows no more steps. */
export type GivenUp = 'empty' | 'used-up' | 'no-allowance';

/**
 * Continues answers that were truncated at the output limit, a limited number of times for each message of the user.
 */
export class TruncationRecovery {
  readonly #max: number;
  #count = 0;
  /** The latest answer, if it was truncated. */
  #cut: { readonly step: number; readonly hasCalls: boolean } | undefined;
  /** The text since the first truncation. */
  #said = '';
  #isContinuing = false;
  #isEmpty = false;
  #filter: SeamFilter | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether the next step continues an answer. */
  get isContinuing(): boolean {
    return this.#isContinuing;
  }

  /** Whether the deltas of this model call may repeat earlier text. */
  get isFiltering(): boolean {
    return this.#filter !== undefined;
  }

  get count(): number {
    return this.#count;
  }

  /** Resets the count when a new message arrives; earlier answers are not continued. */
  newInput(): void {
    this.#count = 0;
    this.#isContinuing = false;
    this.#said = '';
  }

  /** Prepares for a model call or its retry. */
  began(): void {
    this.#filter = this.#isContinuing ? new SeamFilter(this.#said) : undefined;
  }

  /** The delta without repeated text; `undefined` if all of it is held back. */
  delta(event: TurnEventOf<'model.delta'>): TurnEventOf<'model.delta'> | undefined {
    if (this.#filter === undefined || event.delta.type !== 'text') return event;
    const text = this.#filter.take(event.delta.text);
    if (text === '') return undefined;
    return text === event.delta.text ? event : { ...event, delta: { ...event.delta, text } };
  }

  /** The text that was held back of a complete answer. */
  rest(): string {
    const text = this.#filter?.flush() ?? '';
    this.#filter = undefined;
    return text;
  }

  /** The answer without repeated text at its beginning. */
  trimmed(event: TurnEventOf<'model.response'>): TurnEventOf<'model.response'> {
    if (!this.#isContinuing) return event;
    const place = event.content.findIndex((part) => part.type === 'text');
    const part = event.content[place];
    if (part?.type !== 'text') return event;
    const repeated = repeatedAtSeam(this.#said, part.text);
    if (repeated === 0) return event;
    const content: AssistantPart[] = [...event.content];
    content[place] = { ...part, text: part.text.slice(repeated) };
    return { ...event, content };
  }

  /** Records an answer. */
  answered({ step, content, finishReason }: TurnEventOf<'model.response'>): void {
    const before = this.#isContinuing ? this.#said : '';
    [this.#said, this.#isContinuing, this.#cut] = ['', false, undefined];
    if (finishReason !== 'length') return;
    const hasCalls = content.some(({ type }) => type === 'tool-call');
    let text = '';
    for (const part of content) if (part.type === 'text') text += part.text;
    if (hasCalls) this.#count += 1;
    else this.#said = before + text;
    this.#cut = { step, hasCalls };
    this.#isEmpty = text.trim() === '';
  }

  /** Why a truncated answer does not continue; `undefined` if it does, or was not truncated. */
  givenUp(step: number | undefined): Exclude<GivenUp, 'no-allowance'> | undefined {
    if (!this.#isTruncated(step)) return undefined;
    if (this.#isEmpty) return 'empty';
    return this.#count >= this.#max ? 'used-up' : undefined;
  }

  /** Whether the answer of this step was truncated and may continue. */
  continues(step: number | undefined): boolean {
    return this.#isTruncated(step) && this.givenUp(step) === undefined;
  }

  /** Whether too many answers with tool calls were truncated. Their calls were answered and did not run. */
  get hasTooManyCutCalls(): boolean {
    return this.#max > 0 && this.#cut?.hasCalls === true && this.#count > this.#max;
  }

  /** Continues the answer in another step. */
  proceed(): NewEventOf<'turn.continue'> {
    return proceed(
      [continueMessage],
      `The answer was truncated at the output limit; recovery ${this.#count + 1} of ${this.#max}.`,
    );
  }

  /** Records that the turn continues. */
  continued({ messages }: TurnEventOf<'turn.continue'>): void {
    if (messages[0]?.metadata?.kind !== recoveryKind) return;
    this.#count += 1;
    this.#isContinuing = true;
  }

  /** Whether the answer of this step was truncated, which matters if recovery is enabled and it has no tool calls. */
  #isTruncated(step: number | undefined): boolean {
    return this.#max > 0 && this.#cut !== undefined && this.#cut.step === step && !this.#cut.hasCalls;
  }
}

/** The longest repetition at a seam that is detected. */
const longestRepeat = 1000;
/** Shorter repetitions may be coincidence. */
const shortestRepeat = 10;
/** The fewest letters or digits of a repetition: rules and indentation repeat legitimately. */
const fewestLetters = 6;

/**
 * Returns how many characters at the beginning of `next` repeat the end of `before`, as models do when they continue an
 * answer.
 *
 * A repetition counts if it begins at a word boundary and is long enough not to be coincidence.
 *
 * @example
 * ```ts
 * repeatedAtSeam('It was the best of times, it was', 'it was the worst'); // 0, too short
 * repeatedAtSeam('It was the best of times, it was the', 'times, it was the worst'); // 17
 * ```
 */
export const repeatedAtSeam = (before: string, next: string): number => {
  const tail = before.slice(-longestRepeat);
  const length = Math.min(tail.length, next.length);
  const borders = longestSuffixPrefix(tail, next.slice(0, length));
  return isRepeat(before, next.slice(0, borders)) ? borders : 0;
};

/** The longest prefix of `next` with which `tail` ends, in linear time. */
const longestSuffixPrefix = (tail: string, next: string): number => {
  const failure = new Uint16Array(next.length);
  let matched = 0;
  for (let index = 1; index < next.length; index += 1) {
    while (matched > 0 && next.charCodeAt(index) !== next.charCodeAt(matched)) matched = failure[matched - 1] as number;
    if (next.charCodeAt(index) === next.charCodeAt(matched)) matched += 1;
    failure[index] = matched;
  }
  matched = 0;
  for (let index = 0; index < tail.length; index += 1) {
    if (matched === next.length) matched = failure[matched - 1] ?? 0;
    while (matched > 0 && tail.charCodeAt(index) !== next.charCodeAt(matched)) matched = failure[matched - 1] as number;
    if (next.length > 0 && tail.charCodeAt(index) === next.charCodeAt(matched)) matched += 1;
  }
  return matched;
};

const wordCharacter = /[\p{L}\p{N}_]/u;

const isRepeat = (before: string, repeat: string): boolean => {
  if (repeat.length < shortestRepeat) return false;
  const previous = before[before.length - repeat.length - 1];
  if (previous !== undefined && wordCharacter.test(previous) && wordCharacter.test(repeat.charAt(0))) return false;
  let letters = 0;
  for (const character of repeat) if (wordCharacter.test(character)) letters += 1;
  return letters >= fewestLetters;
};

/** Removes repeated text from the deltas of a continued answer. */
export class SeamFilter {
  readonly #before: string;
  #held = '';
  #isOver = false;

  constructor(before: string) {
    this.#before = before;
  }

  /** The text to emit now: empty while a repetition is possible, or more than the delta once it is ruled out. */
  take(piece: string): string {
    if (this.#isOver) return piece;
    this.#held += piece;
    return this.#mayRepeat() ? '' : this.flush();
  }

  /** The text that is still held back at the end. */
  flush(): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return this.#held.slice(repeatedAtSeam(this.#before, this.#held));
  }

  /** Whether the text so far may be the beginning of a longer repetition. */
  #mayRepeat(): boolean {
    const tail = this.#before.slice(-longestRepeat);
    const place = tail.indexOf(this.#held);
    return place !== -1 && place + this.#held.length < tail.length;
  }
}
