import { type AssistantPart, type NewEventOf, proceed, toolCallsOf, type TurnEventOf, type UserMessage } from '@h/turn';

/** What the message is known by that asks a model to go on. */
export const recoveryKind = 'max-tokens-recovery';

const goOn: UserMessage = {
  role: 'user',
  content:
    'Your message was cut off at the output limit. Go on with the very next character: repeat nothing of it, and add no comment or greeting. If much is left, be brief.',
  metadata: { internal: true, kind: recoveryKind },
};

/** Why an answer that was cut off does not go on. */
export type GivenUp = 'empty' | 'used-up' | 'no-allowance';

/** Lets answers that were cut off at the output limit go on, so often for each message of a user. */
export class TruncationRecovery {
  readonly #max: number;
  #count = 0;
  /** The answer that was cut off; nothing where the last one was not. */
  #cut: { readonly step: number; readonly hasCalls: boolean } | undefined;
  /** What the model has said since it was first cut off. */
  #said = '';
  #isGoingOn = false;
  #isEmpty = false;
  #filter: SeamFilter | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether the next step goes on with an answer. */
  get isGoingOn(): boolean {
    return this.#isGoingOn;
  }

  get count(): number {
    return this.#count;
  }

  /** Somebody has said something: what was before is no longer gone on with, and the count begins again. */
  newInput(): void {
    this.#count = 0;
    this.#isGoingOn = false;
    this.#said = '';
  }

  /** A model call begins, or begins again. */
  began(): void {
    this.#filter = this.#isGoingOn ? new SeamFilter(this.#said) : undefined;
  }

  /** Without what it only repeats; nothing where all of it is held back. */
  delta(event: TurnEventOf<'model.delta'>): TurnEventOf<'model.delta'> | undefined {
    if (this.#filter === undefined || event.delta.type !== 'text') return event;
    const text = this.#filter.take(event.delta.text);
    if (text === '') return undefined;
    return text === event.delta.text ? event : { ...event, delta: { ...event.delta, text } };
  }

  /** What was held back of the answer that has now come in full. */
  rest(): string {
    const text = this.#filter?.flush() ?? '';
    this.#filter = undefined;
    return text;
  }

  /** The answer without what its beginning only repeats. */
  trimmed(event: TurnEventOf<'model.response'>): TurnEventOf<'model.response'> {
    if (!this.#isGoingOn) return event;
    const place = event.content.findIndex((part) => part.type === 'text');
    const part = event.content[place];
    if (part?.type !== 'text') return event;
    const repeated = repeatedAtSeam(this.#said, part.text);
    if (repeated === 0) return event;
    const content: AssistantPart[] = [...event.content];
    content[place] = { ...part, text: part.text.slice(repeated) };
    return { ...event, content };
  }

  /** Learns from an answer, as it leaves. */
  answered({ step, content, finishReason }: TurnEventOf<'model.response'>): void {
    const hasCalls = toolCallsOf({ role: 'assistant', content }).length > 0;
    let text = '';
    for (const part of content) if (part.type === 'text') text += part.text;
    this.#said = finishReason === 'length' && !hasCalls ? (this.#isGoingOn ? this.#said : '') + text : '';
    this.#isGoingOn = false;
    this.#cut = finishReason === 'length' ? { step, hasCalls } : undefined;
    if (this.#cut?.hasCalls === true) this.#count += 1;
    this.#isEmpty = text.trim() === '';
  }

  /** Why the answer that is about to be the last one does not go on; nothing when it does, or when it was not cut off. */
  givenUp(step: number | undefined): GivenUp | undefined {
    if (this.#max === 0 || this.#cut === undefined || this.#cut.step !== step || this.#cut.hasCalls) return undefined;
    if (this.#isEmpty) return 'empty';
    return this.#count >= this.#max ? 'used-up' : undefined;
  }

  /** Whether the answer of this step was cut off and goes on. */
  goesOn(step: number | undefined): boolean {
    return (
      this.#max > 0 &&
      this.#cut !== undefined &&
      this.#cut.step === step &&
      !this.#cut.hasCalls &&
      !this.#isEmpty &&
      this.#count < this.#max
    );
  }

  /** Calls that were cut off were answered and not run; too many of them lead nowhere. */
  get hasTooManyCutCalls(): boolean {
    return this.#max > 0 && this.#cut?.hasCalls === true && this.#count > this.#max;
  }

  /** Goes on with the answer. */
  goOn(): NewEventOf<'turn.continue'> {
    this.continued();
    return proceed([goOn], `The answer was cut off at the output limit; recovery ${this.#count} of ${this.#max}.`);
  }

  /** The turn was told to go on with the answer, now or before a crash. */
  continued(): void {
    this.#count += 1;
    this.#isGoingOn = true;
  }
}

/** How much of the end of an answer may be repeated at the beginning of the next. */
const longestRepeat = 1000;
/** A shorter repeat may be chance. */
const shortestRepeat = 10;
/** So much of a repeat has to be letters or digits: rows of dashes and indentation repeat by themselves. */
const fewestLetters = 6;

/**
 * How many characters at the beginning of `next` only repeat the end of `before`, as models do that were asked to go on.
 *
 * A repeat counts when it begins where a word or line does and is long enough not to be chance.
 *
 * @example
 * ```ts
 * repeatedAtSeam('It was the best of times, it was', 'it was the worst'); // 0, too short to tell
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

/** Lets the pieces of an answer that goes on pass without what they only repeat. */
export class SeamFilter {
  readonly #before: string;
  #held = '';
  #isOver = false;

  constructor(before: string) {
    this.#before = before;
  }

  /** What of this piece may be shown now; it may be nothing, or more than the piece. */
  take(piece: string): string {
    if (this.#isOver) return piece;
    this.#held += piece;
    return this.#mayRepeat() ? '' : this.flush();
  }

  /** What is still held back, when no more is to come. */
  flush(): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return this.#held.slice(repeatedAtSeam(this.#before, this.#held));
  }

  /** Whether what has come so far may be the beginning of a longer repeat. */
  #mayRepeat(): boolean {
    const tail = this.#before.slice(-longestRepeat);
    const place = tail.indexOf(this.#held);
    return place !== -1 && place + this.#held.length < tail.length;
  }
}
