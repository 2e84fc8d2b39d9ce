import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { ModelDelta } from '@h/turn';

type StreamPart<Type extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: Type }>;
type Details = Omit<LanguageModelV4StreamResult, 'stream'>;

/** Parts without visible content: an attempt that emitted only these can be discarded. */
const quietTypes: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'stream-start',
  'response-metadata',
  'text-start',
  'reasoning-start',
  'tool-input-start',
  'raw',
  'ping',
]);

/**
 * The stream that a host reads, built from the model's output and the operators' changes.
 *
 * It opens with the first visible part. From the first tool call on, parts wait until the operators have decided
 * about the whole answer, because the host runs a call as soon as it reads it.
 */
export class HostStream {
  /** Resolves when the stream opens; rejects if the call fails before. */
  readonly result: Promise<LanguageModelV4StreamResult>;
  readonly #onCancel: (reason: unknown) => void;
  #resolve: (result: LanguageModelV4StreamResult) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #controller: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined;
  #details: Details = {};
  #quiet: LanguageModelV4StreamPart[] = [];
  #held: LanguageModelV4StreamPart[] | undefined;
  readonly #blocks = new Set<string>();
  #finish: StreamPart<'finish'> | undefined;
  #expected: { readonly delta: ModelDelta; readonly part: LanguageModelV4StreamPart } | undefined;
  readonly #usedIds: Set<string>;
  #added = 0;
  #done = false;

  /**
   * @param usedIds - The ids of earlier calls. A call that uses one again receives another id when its answer is
   *   complete, so its streamed input is not emitted: the host would take it for a second call.
   */
  constructor(onCancel: (reason: unknown) => void, usedIds: ReadonlySet<string> = new Set()) {
    this.#onCancel = onCancel;
    this.#usedIds = new Set(usedIds);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether the host has received visible parts, which cannot be retracted. */
  get isOpen(): boolean {
    return this.#controller !== undefined;
  }

  /** Begins a new attempt; nothing of the previous one was emitted. */
  begin(details: Details): void {
    this.#details = details;
    this.#quiet = [];
    this.#held = undefined;
    this.#finish = undefined;
    this.#blocks.clear();
  }

  /** Sets the stream part of the next delta. If operators do not change the delta, the part is emitted unchanged. */
  expect(delta: ModelDelta, part: LanguageModelV4StreamPart): void {
    this.#expected = { delta, part };
  }

  /** Emits a part of the model's stream that operators do not see. */
  take(part: LanguageModelV4StreamPart): void {
    if (part.type === 'finish') {
      this.#finish = part;
      return;
    }
    // An operator continues the answer; the host receives one answer and expects one start.
    if (this.isOpen && part.type === 'stream-start') return;
    this.#noteBlock(part);
    if (part.type === 'tool-call' && part.providerExecuted !== true) this.#held ??= [];
    this.#pass(part);
    if (part.type === 'tool-call') this.#usedIds.add(part.toolCallId);
  }

  /** Emits a delta that the operators emitted. */
  delta(delta: ModelDelta): void {
    const expected = this.#expected;
    if (expected?.delta === delta) this.#pass(expected.part);
    else if (delta.type === 'tool-input') {
      this.#pass({ type: 'tool-input-delta', id: delta.toolCallId, delta: delta.text });
    } else this.#passText(delta.type, delta.id, delta.text);
  }

  /**
   * Completes the answer.
   *
   * @param result - The answer that the operators emitted.
   * @param isStreamed - Whether the model has streamed it; if not, all of it is emitted now.
   * @param isChanged - Whether operators changed the content: the host then reads the tool calls of the result.
   */
  complete(
    result: LanguageModelV4GenerateResult,
    { isStreamed, isChanged }: { readonly isStreamed: boolean; readonly isChanged: boolean },
  ): void {
    if (!isStreamed) this.#tell(result);
    else if (isChanged) this.#release(result.content.filter(isHostCall));
    else this.#release();
    const { finishReason, usage, providerMetadata } = result;
    this.#emit({
      ...(isStreamed && this.#finish),
      type: 'finish',
      finishReason,
      usage,
      ...(providerMetadata && { providerMetadata }),
    });
    this.#close();
  }

  /** Ends a stream without an answer, with the model's own end. */
  completeAsGiven(): void {
    this.#release();
    if (this.#finish) this.#emit(this.#finish);
    else this.#open();
    this.#close();
  }

  /** Ends with an error part, or rejects if the stream has not opened. */
  fail(error: unknown): void {
    if (!this.isOpen) return this.#refuse(error);
    this.#emit({ type: 'error', error });
    this.#close();
  }

  /** Like {@link fail}, for an error that was a part of the stream. */
  failWithin(error: unknown): void {
    this.#emit({ type: 'error', error });
    this.#close();
  }

  /** Errors the stream, as a lost connection does. */
  breakOff(error: unknown): void {
    if (!this.isOpen) return this.#refuse(error);
    if (!this.#done) this.#controller?.error(error);
    this.#done = true;
  }

  #refuse(error: unknown): void {
    this.#done = true;
    this.#reject(error);
  }

  #noteBlock(part: LanguageModelV4StreamPart): void {
    if (part.type === 'text-start' || part.type === 'reasoning-start') this.#blocks.add(`${part.type} ${part.id}`);
    if (part.type === 'text-end') this.#blocks.delete(`text-start ${part.id}`);
    if (part.type === 'reasoning-end') this.#blocks.delete(`reasoning-start ${part.id}`);
  }

  /** Emits changed text, in its own block if the block of the original is not open. */
  #passText(type: 'text' | 'reasoning', id: string | undefined, text: string): void {
    if (id !== undefined && this.#blocks.has(`${type}-start ${id}`)) {
      this.#pass({ type: `${type}-delta`, id, delta: text });
    } else for (const part of this.#blockOf(type, text)) this.#pass(part);
  }

  #blockOf(
    type: 'text' | 'reasoning',
    text: string,
    more: { providerMetadata?: LanguageModelV4Content['providerMetadata'] } = {},
  ): LanguageModelV4StreamPart[] {
    this.#added += 1;
    const id = `added-${this.#added}`;
    const metadata = more.providerMetadata && { providerMetadata: more.providerMetadata };
    return [
      { type: `${type}-start`, id, ...metadata },
      { type: `${type}-delta`, id, delta: text },
      { type: `${type}-end`, id, ...metadata },
    ];
  }

  #pass(part: LanguageModelV4StreamPart): void {
    if (isInputPart(part) && (part.id === '' || this.#usedIds.has(part.id))) return;
    if (this.#held === undefined || isInputPart(part)) this.#emit(part);
    else this.#held.push(part);
  }

  /** Emits the buffered parts; `calls`, if given, replace the calls of the model. */
  #release(calls?: readonly LanguageModelV4Content[]): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const part of held) if (calls === undefined || !isHostCall(part)) this.#emit(part);
    for (const call of calls ?? []) this.#emit(call as LanguageModelV4StreamPart);
  }

  /** Emits an answer that no model has streamed. */
  #tell({ warnings, response, content }: LanguageModelV4GenerateResult): void {
    this.#held = undefined;
    if (!this.isOpen) {
      this.#quiet = [
        { type: 'stream-start', warnings },
        { type: 'response-metadata', ...response },
      ];
    }
    for (const part of content) {
      if (part.type !== 'text' && part.type !== 'reasoning') this.#emit(part);
      else for (const piece of this.#blockOf(part.type, part.text, part)) this.#emit(piece);
    }
  }

  #emit(part: LanguageModelV4StreamPart): void {
    if (this.#done) return;
    if (!this.isOpen && quietTypes.has(part.type)) {
      this.#quiet.push(part);
      return;
    }
    this.#open().enqueue(part);
  }

  #open(): ReadableStreamDefaultController<LanguageModelV4StreamPart> {
    if (this.#controller) return this.#controller;
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: (reason) => {
        this.#done = true;
        this.#onCancel(reason);
      },
    });
    const controller = this.#controller as unknown as ReadableStreamDefaultController<LanguageModelV4StreamPart>;
    for (const part of this.#quiet) controller.enqueue(part);
    this.#resolve({ ...this.#details, stream });
    return controller;
  }

  #close(): void {
    if (!this.#done) this.#open().close();
    this.#done = true;
  }
}

/** Whether a part streams the input of a call. */
const isInputPart = (
  part: LanguageModelV4StreamPart,
): part is StreamPart<'tool-input-start' | 'tool-input-delta' | 'tool-input-end'> => part.type.startsWith('tool-input');

/** Whether the host runs this call. */
const isHostCall = (part: LanguageModelV4StreamPart | LanguageModelV4Content): boolean =>
  part.type === 'tool-call' && part.providerExecuted !== true;
