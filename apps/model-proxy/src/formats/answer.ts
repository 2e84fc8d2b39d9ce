import type { TokenUsage } from '@h/prices';
import type { AssistantPart, FinishReason } from '@h/turn';

/** An answer of a provider, as read from a copy of its bytes. */
export interface Answer {
  /** As reported by the provider; `undefined` if it reported none, or the answer was not read to its end. */
  readonly usage: TokenUsage | undefined;
  /** The model as the provider names it. */
  readonly model: string | undefined;
  readonly id: string | undefined;
  /** Text, reasoning and calls of client tools. */
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  /** Length of the generated text, reasoning and tool input, to estimate the usage of an incomplete answer. */
  readonly outputChars: number;
  /** Whether the provider ended the answer. */
  readonly isComplete: boolean;
  /** An error that the provider reported within a stream. */
  readonly error: { readonly type: string; readonly message: string } | undefined;
}

/** Reads the answers of one wire format. */
export interface AnswerReader {
  /** Reads an event of a stream. */
  event(data: unknown): void;
  /** Reads the body of an answer that is not a stream. */
  body(body: unknown): void;
  /** Returns what has been read so far. */
  answer(): Answer;
}

/** A part of an answer while it streams. */
export interface OpenPart {
  readonly type: 'text' | 'reasoning' | 'tool-call';
  readonly id: string;
  readonly name: string;
  /** Chunks of the text or of the tool input. */
  readonly chunks: string[];
}

/** Returns the finished part. Input that is not JSON is preserved as a string. */
export const closePart = ({ type, id, name, chunks }: OpenPart): AssistantPart => {
  const text = chunks.join('');
  if (type !== 'tool-call') return { type, text };
  let input: unknown = text;
  try {
    input = text === '' ? {} : JSON.parse(text);
  } catch {
    // An incomplete stream ends within the input.
  }
  return { type, toolCallId: id, toolName: name, input };
};

/** Sums the lengths of all chunks. */
export const charsOf = (parts: Iterable<OpenPart>): number => {
  let chars = 0;
  for (const { chunks } of parts) for (const chunk of chunks) chars += chunk.length;
  return chars;
};

/** Creates a part from a complete text. */
export const partOf = (type: OpenPart['type'], text: string, id = '', name = ''): OpenPart => ({
  type,
  id,
  name,
  chunks: [text],
});

/** Receives the parts of an answer while it streams. A part is identified by its key. */
export interface PartListener {
  /** Receives a chunk of a text or of the input of a call; an empty chunk begins the part. */
  chunk(key: string, part: Pick<OpenPart, 'type' | 'id' | 'name'>, text: string): void;
  /** Called when the provider reports that a part is complete. */
  close(key: string): void;
}
