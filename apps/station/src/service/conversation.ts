import type { JSONValue, Message, ToolResultOutput } from '@h/turn';
import type { StationEntry } from '../api/contract.js';
import { outputText, shownStatus } from '../api/tool-part.js';
import { maxOutput } from './public-event.js';
import type { TurnBody } from './records.js';

type EntryPart = StationEntry['parts'][number];
type ToolPart = Extract<EntryPart, { type: 'tool' }>;

interface MutableEntry extends Omit<StationEntry, 'parts'> {
  readonly parts: EntryPart[];
}

/** Builds the conversation that people read: results belong to their calls, and messages of operators are hidden. */
export class ConversationBuilder {
  readonly entries: StationEntry[] = [];
  readonly #calls = new Map<string, { readonly parts: EntryPart[]; readonly index: number }>();
  #partial: MutableEntry | undefined;

  /** Adds a message of a turn that has ended, or that is in the history of a running turn. */
  addMessage(message: Message, turn: string, at: number | null, calls: TurnBody['calls'] = {}): void {
    if (message.metadata?.internal === true) return;
    if (message.role === 'tool') {
      for (const part of message.content) {
        if (part.type === 'tool-result') this.#answer(part.toolCallId, part.output, calls[part.toolCallId]);
      }
      return;
    }
    const partial = message.role === 'assistant' ? this.#partial : undefined;
    const parts = partsOf(message);
    if (partial) {
      // Calls of the message may have begun already.
      this.#partial = undefined;
      partial.parts.splice(0, partial.parts.length, ...parts.map((part) => this.#known(part) ?? part));
      this.#index(partial);
      return;
    }
    if (parts.length > 0) this.#push(message.role, turn, at, parts);
  }

  /** Follows an event of a running turn, as clients receive it. */
  addEvent(event: JSONValue): void {
    const { type, turn = '', at } = event as unknown as { type: string; turn?: string; at?: number };
    const rest = event as unknown as Readonly<Record<string, unknown>>;
    switch (type) {
      case 'history.append':
        for (const message of rest['messages'] as readonly Message[]) {
          this.addMessage(message, turn, at ?? null);
        }
        break;
      case 'model.delta': {
        const { type: kind, text } = rest['delta'] as { readonly type: 'text' | 'reasoning'; readonly text: string };
        this.#partial ??= this.#push('assistant', turn, at ?? null, []);
        const last = this.#partial.parts.at(-1);
        if (last?.type === kind) {
          this.#partial.parts[this.#partial.parts.length - 1] = { ...last, text: last.text + text };
        } else this.#partial.parts.push({ type: kind, text });
        break;
      }
      case 'model.error':
        if (this.#partial) this.#partial.parts.length = 0;
        break;
      case 'approval.request':
      case 'tool.result': {
        const call = rest['call'] as { readonly id: string } | undefined;
        if (call) this.#update(call.id, type === 'tool.result' ? resultOf(rest) : { status: 'waiting' });
        break;
      }
      case 'approval.answer':
        for (const id of this.#calls.keys()) {
          if (this.#part(id)?.status === 'waiting') this.#update(id, { status: 'running' });
        }
        break;
      default:
    }
  }

  /** Ends a turn: calls without a result were interrupted. */
  endTurn(): void {
    for (const id of this.#calls.keys()) {
      const status = this.#part(id)?.status;
      if (status === 'running' || status === 'waiting') this.#update(id, { status: 'interrupted' });
    }
    this.#calls.clear();
    this.#partial = undefined;
  }

  #push(role: StationEntry['role'], turn: string, at: number | null, parts: EntryPart[]): MutableEntry {
    const entry: MutableEntry = { index: this.entries.length, role, turn, at, parts };
    this.entries.push(entry);
    this.#index(entry);
    return entry;
  }

  #index({ parts }: MutableEntry): void {
    for (const [index, part] of parts.entries()) if (part.type === 'tool') this.#calls.set(part.call, { parts, index });
  }

  #known(part: EntryPart): EntryPart | undefined {
    return part.type === 'tool' ? this.#part(part.call) : undefined;
  }

  #part(call: string): ToolPart | undefined {
    const place = this.#calls.get(call);
    const part = place?.parts[place.index];
    return part?.type === 'tool' ? part : undefined;
  }

  #update(call: string, change: Partial<ToolPart>): void {
    const place = this.#calls.get(call);
    const part = this.#part(call);
    if (place && part) place.parts[place.index] = { ...part, ...change };
  }

  #answer(call: string, output: ToolResultOutput, known: TurnBody['calls'][string] | undefined): void {
    const part = this.#part(call);
    if (!part) return;
    const status = part.status === 'running' || part.status === 'waiting' ? statusOf(output) : part.status;
    const text = outputText(output);
    this.#update(call, {
      status: known ? shownStatus(known.status) : status,
      output: text.slice(0, maxOutput),
      isTruncated: part.isTruncated || text.length > maxOutput,
      ...(known && { durationMs: known.durationMs, artifact: known.artifact }),
    });
  }
}

const resultOf = (event: Readonly<Record<string, unknown>>): Partial<ToolPart> => {
  const { status, output, durationMs, artifact } = event as {
    readonly status: string;
    readonly output: ToolResultOutput;
    readonly durationMs?: number;
    readonly artifact?: { readonly id: string };
  };
  const text = outputText(output);
  return {
    status: shownStatus(status),
    output: text.slice(0, maxOutput),
    isTruncated: text.length > maxOutput || status === 'stored',
    durationMs: durationMs ?? null,
    artifact: artifact?.id ?? null,
  };
};

const partsOf = (message: Exclude<Message, { role: 'tool' }>): EntryPart[] => {
  if (typeof message.content === 'string') {
    return message.content === '' ? [] : [{ type: 'text', text: message.content }];
  }
  const artifacts = artifactsOf(message);
  let files = 0;
  return message.content.flatMap((part): EntryPart[] => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return part.text === '' ? [] : [{ type: part.type, text: part.text }];
      case 'file':
      case 'image': {
        const artifact = artifacts[files] ?? null;
        files += 1;
        const name = part.type === 'file' ? (part.filename ?? null) : null;
        return [{ type: 'file', mediaType: part.mediaType ?? 'application/octet-stream', name, artifact }];
      }
      case 'tool-call':
        return [
          {
            type: 'tool',
            call: part.toolCallId,
            name: part.toolName,
            input: JSON.parse(JSON.stringify(part.input ?? null)) as ToolPart['input'],
            status: 'running',
            output: null,
            isTruncated: false,
            durationMs: null,
            artifact: null,
          },
        ];
      default:
        return [];
    }
  });
};

/** The artifacts in which the service has stored the files of a message, in order. */
const artifactsOf = ({ metadata }: Message): readonly string[] => {
  const found = metadata?.['artifacts'];
  return Array.isArray(found) ? found.filter((id): id is string => typeof id === 'string') : [];
};

const statusOf = ({ type }: ToolResultOutput): ToolPart['status'] =>
  type === 'execution-denied' ? 'denied' : type === 'error-text' || type === 'error-json' ? 'error' : 'ok';
