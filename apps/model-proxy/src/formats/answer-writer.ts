import type { TokenUsage } from '@h/prices';
import type { Answer } from './answer.js';
import type { PartWriter } from './part-sequence.js';

/** Writes an answer of another provider in the format of a client. */
export interface AnswerWriter {
  /** Returns the body of an answer that is not a stream. */
  body(answer: Answer): unknown;
  /** Begins a stream; `send` receives its events. */
  stream(send: (event: unknown, name?: string) => void, head: AnswerHead): StreamWriter;
}

/** What a client must know at the beginning of a stream. */
export interface AnswerHead {
  /** Identifies the answer. Generated, because formats have different ids. */
  readonly id: string;
  readonly model: string;
  /** Time of the answer, in seconds since 1970. */
  readonly created: number;
  /** Whether the client requested the usage. */
  readonly wantsUsage: boolean;
}

/** A stream that is being written. */
export interface StreamWriter extends PartWriter {
  /** Ends the stream after its parts, or with an error. */
  finish(answer: Answer): void;
}

/** Returns the tokens of an answer; nothing if the provider did not report them. */
export const usageOfAnswer = ({ usage }: Pick<Answer, 'usage'>): TokenUsage =>
  usage ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** Returns the text of an answer. */
export const answerText = ({ content }: Answer): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** A call of a client tool, with its input as JSON. */
export interface AnswerCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Returns the calls of an answer. */
export const answerCalls = ({ content }: Answer): readonly AnswerCall[] =>
  content.flatMap((part) =>
    part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, input: part.input }] : [],
  );
