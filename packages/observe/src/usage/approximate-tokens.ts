import type { MessageList, ModelRequest, ModelResponse } from '@h/turn';

/**
 * An estimate of tokens: bytes sent and received, divided by four.
 *
 * It is a guard against runaway jobs where a provider counts nothing. It is not what a provider bills: code, other
 * scripts than the Latin one and images are far off. Never add it to a counted usage.
 *
 * @example
 * ```ts
 * approximateTokens({ bytesSent: 4000, bytesReceived: 400 }); // 1100
 * ```
 */
export const approximateTokens = ({
  bytesSent,
  bytesReceived,
}: {
  readonly bytesSent: number;
  readonly bytesReceived: number;
}): number => Math.floor((bytesSent + bytesReceived) / 4);

/** Counts the bytes of a turn's requests and answers; what a request repeats of the one before is not measured again. */
export interface ByteCounter {
  sent(request: ModelRequest): void;
  received(response: Pick<ModelResponse, 'content'>): void;
  /** {@link approximateTokens} of all that was sent and received. */
  tokens(): number;
}

/** A counter for one turn. */
export const byteCounter = (): ByteCounter => {
  let bytesSent = 0;
  let bytesReceived = 0;
  let history: { readonly list: MessageList; readonly bytes: number } | undefined;
  let fixed:
    | { readonly system: ModelRequest['system']; readonly tools: ModelRequest['tools']; readonly bytes: number }
    | undefined;

  const ofHistory = (list: MessageList): number => {
    const continues = history !== undefined && list.startsWith(history.list);
    let bytes = continues ? (history?.bytes ?? 0) : 0;
    for (let place = continues ? (history?.list.length ?? 0) : 0; place < list.length; place += 1) {
      bytes += bytesOf(list.at(place)?.content);
    }
    history = { list, bytes };
    return bytes;
  };
  const ofFixed = ({ system, tools }: ModelRequest): number => {
    if (fixed?.system !== system || fixed.tools !== tools) {
      fixed = { system, tools, bytes: bytesOf(system) + bytesOf(tools) };
    }
    return fixed.bytes;
  };
  return {
    sent: (request) => {
      bytesSent += ofFixed(request) + ofHistory(request.messages) + bytesOf(request.tail);
    },
    received: ({ content }) => {
      bytesReceived += bytesOf(content);
    },
    tokens: () => approximateTokens({ bytesSent, bytesReceived }),
  };
};

/** The bytes of all texts and binary pieces in a value, and of numbers as they are written. */
const bytesOf = (value: unknown, depth = 0): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return value.byteLength;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value).length;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > 20) return 0;
  let bytes = 0;
  for (const item of Object.values(value)) bytes += bytesOf(item, depth + 1);
  return bytes;
};
