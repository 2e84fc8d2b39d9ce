import { addUsage, noUsage, repairHistory, type AssistantPart, type Message, type ToolPart, type Usage } from '@h/turn';
import type { Notes } from '../notes.js';
import type { Transcript, TranscriptFormat, TranscriptTurn } from '../transcript.js';

/** Data of a message besides its content. */
export interface MessageInfo {
  readonly at?: number | undefined;
  readonly model?: string | undefined;
  readonly usage?: Usage | undefined;
}

/** Assembles messages and divides them into turns. */
export class TranscriptBuilder {
  readonly notes: Notes;
  readonly #messages: Message[] = [];
  readonly #info = new Map<Message, MessageInfo>();
  readonly #toolNames = new Map<string, string>();
  /** The parts of the last message, while it is open. */
  #growing: (AssistantPart | ToolPart)[] | undefined;

  constructor(notes: Notes) {
    this.notes = notes;
  }

  add(message: Message, info: MessageInfo = {}): void {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      for (const part of message.content) {
        if (part.type === 'tool-call') this.#toolNames.set(part.toolCallId, part.toolName);
      }
    }
    this.#growing = undefined;
    this.#messages.push(message);
    this.#info.set(message, info);
  }

  /** Adds a part of an answer to the last message if that is an answer. */
  addToAnswer(parts: readonly AssistantPart[], info: MessageInfo): void {
    const last = this.#messages.at(-1);
    if (last?.role === 'assistant' && typeof last.content !== 'string') this.#grow(last, last.content, parts, info);
    else this.add({ role: 'assistant', content: parts }, info);
    for (const part of parts) if (part.type === 'tool-call') this.#toolNames.set(part.toolCallId, part.toolName);
  }

  /** Adds results to preceding ones, because the results of one step are one message. */
  addResults(parts: readonly ToolPart[], info: MessageInfo): void {
    const last = this.#messages.at(-1);
    if (last?.role === 'tool') this.#grow(last, last.content, parts, info);
    else this.add({ role: 'tool', content: parts }, info);
  }

  /** Adds a message of an unknown kind, if such content is preserved. */
  addUnknown(value: unknown, what: string, at: number): void {
    const content = this.notes.unknown(value, what, at);
    if (content.length > 0) this.add({ role: 'user', content });
  }

  /** The messages as they were added. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Returns the tool of a call. */
  toolOf(callId: string): string {
    return this.#toolNames.get(callId) ?? 'unknown';
  }

  /** Discards everything, as after a compaction. */
  clear(): void {
    this.#growing = undefined;
    this.#messages.length = 0;
    this.#info.clear();
  }

  /** Removes the last turns, as after a rollback. */
  dropTurns(count: number): void {
    const starts = this.#messages.flatMap((message, index) => (isInput(message) ? [index] : []));
    const from =
      count > 0 ? (starts.at(-Math.min(count, starts.length)) ?? this.#messages.length) : this.#messages.length;
    for (const message of this.#messages.splice(from)) this.#info.delete(message);
    this.#growing = undefined;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** Counts tokens that are reported apart from messages. */
  addUsage(usage: Usage): void {
    const last = this.#messages.at(-1);
    if (last) {
      this.#info.set(last, { ...this.#info.get(last), usage: addUsage(this.#info.get(last)?.usage ?? noUsage, usage) });
    }
  }

  finish(format: TranscriptFormat, about: Pick<Transcript, 'session' | 'title'> = {}): Transcript {
    const { messages, repairs } = repairHistory(this.#messages);
    for (const { problem, index } of repairs) this.notes.add('repaired', problem, index + 1);
    const turns = partIntoTurns(messages).map((turn) => this.#turnOf(turn));
    return { format, ...about, turns, notes: this.notes.list() };
  }

  /** Extends the last message. Its parts are copied once, regardless of their number. */
  #grow(
    last: Message,
    content: readonly (AssistantPart | ToolPart)[],
    parts: readonly (AssistantPart | ToolPart)[],
    info: MessageInfo,
  ): void {
    const before = this.#info.get(last);
    const usage = before?.usage && info.usage ? addUsage(before.usage, info.usage) : (info.usage ?? before?.usage);
    if (this.#growing) for (const part of parts) this.#growing.push(part);
    else this.#growing = [...content, ...parts];
    const message = { ...last, content: this.#growing } as Message;
    this.#messages[this.#messages.length - 1] = message;
    this.#info.delete(last);
    this.#info.set(message, { at: info.at ?? before?.at, model: info.model ?? before?.model, usage });
  }

  #turnOf(messages: readonly Message[]): TranscriptTurn {
    const infos = messages.flatMap((message) => this.#info.get(message) ?? []);
    const times = infos.flatMap(({ at }) => at ?? []);
    const model = infos.findLast((info) => info.model !== undefined)?.model;
    return {
      ...(times[0] !== undefined && { startedAt: times[0], endedAt: Math.max(...times.slice(-1), times[0]) }),
      ...(model !== undefined && { model }),
      usage: infos.reduce((sum, { usage }) => (usage ? addUsage(sum, usage) : sum), noUsage),
      messages,
    };
  }
}

/** Returns whether a message starts a turn: a user message after an answer or a result. */
const partIntoTurns = (messages: readonly Message[]): readonly (readonly Message[])[] => {
  const turns: Message[][] = [];
  let isAnswered = false;
  for (const message of messages) {
    const current = turns.at(-1);
    if (!current || (isInput(message) && isAnswered)) {
      turns.push([message]);
      isAnswered = false;
    } else current.push(message);
    isAnswered ||= message.role === 'assistant' || message.role === 'tool';
  }
  return turns;
};

/** Returns whether a message comes from a user. */
const isInput = ({ role, metadata }: Message): boolean => role === 'user' && metadata?.internal !== true;
