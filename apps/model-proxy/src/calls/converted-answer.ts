import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { AnswerWatch } from './answer-watch.js';
import type { Answer } from '../formats/answer.js';
import type { AnswerWriter } from '../formats/answer-writer.js';
import { formats } from '../formats/convert.js';
import { PartSequence } from '../formats/part-sequence.js';
import { objectOf } from '../wire/json-value.js';
import { limitPauses, type Delivery } from './relay.js';
import { readersByFormat, type FormatName } from './routes.js';
import type { WireRequest } from '../wire/wire-request.js';

/** An answer that is sent in another format than that in which it arrives. */
export interface ConvertedAnswer {
  readonly from: IncomingMessage;
  readonly to: ServerResponse;
  /** The format of the provider. */
  readonly format: FormatName;
  /** The request of the client. */
  readonly wire: WireRequest;
  readonly model: string;
  /** Further headers. */
  readonly headers: readonly string[];
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** Longest time in which the client reads nothing. */
  readonly idleMs: number;
}

/** Converts an answer to the format of the client, event by event as it arrives. */
export const relayConverted = async (
  converted: ConvertedAnswer,
): Promise<{ readonly delivery: Delivery; readonly answer: Answer }> => {
  const { from, to, format, wire, headers, signal, idleMs } = converted;
  const writing = wire.isStream ? writeStream(converted) : undefined;
  const watch = new AnswerWatch(readersByFormat[format](writing?.parts), from.headers);
  to.writeHead(200, ['content-type', wire.isStream ? 'text/event-stream' : 'application/json', ...headers]);
  to.flushHeaders();
  limitPauses(to, idleMs);
  let delivery: Delivery = 'complete';
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      watch.push(chunk);
      if (to.writableNeedDrain) await once(to, 'drain', { signal });
    }
  } catch {
    delivery = signal.aborted ? 'client-left' : 'provider-broke';
  }
  const answer = await watch.end();
  if (delivery !== 'complete') {
    from.destroy();
    to.destroy();
    return { delivery, answer };
  }
  if (writing) writing.finish(answer);
  else to.write(JSON.stringify(formats[wire.format].answers.body({ ...answer, id: newId() })));
  to.end();
  await finished(to).catch(() => (delivery = 'client-left'));
  return { delivery, answer };
};

const newId = (): string => randomUUID().replaceAll('-', '');

const writeStream = ({
  to,
  wire,
  model,
  from,
}: ConvertedAnswer): { readonly parts: PartSequence; finish(answer: Answer): void } => {
  const answers: AnswerWriter = formats[wire.format].answers;
  const send = (event: unknown, name?: string): void => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    to.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
  };
  // The head is sent with the first part, after the head of the HTTP answer.
  let stream: ReturnType<AnswerWriter['stream']> | undefined;
  const wantsUsage = objectOf(wire.value['stream_options'])['include_usage'] === true;
  const head = { id: newId(), model, created: Math.floor(Date.now() / 1000), wantsUsage };
  const begun = (): ReturnType<AnswerWriter['stream']> => (stream ??= answers.stream(send, head));
  const parts = new PartSequence({
    begin: (part) => begun().begin(part),
    chunk: (text) => begun().chunk(text),
    end: () => begun().end(),
  });
  return {
    parts,
    finish: (answer) => {
      const isWhole = !/^text\/event-stream\b/i.test(from.headers['content-type'] ?? '');
      if (isWhole) addWhole(parts, answer);
      parts.end();
      const incomplete = { type: 'server_error', message: 'The provider ended its answer early.' };
      begun().finish(answer.isComplete || answer.error ? answer : { ...answer, error: incomplete });
    },
  };
};

/** Adds the parts of an answer that arrived as a whole. */
const addWhole = (parts: PartSequence, { content }: Answer): void => {
  for (const [index, part] of content.entries()) {
    if (part.type === 'text') parts.chunk(`${index}`, { type: 'text', id: '', name: '' }, part.text);
    if (part.type !== 'tool-call') continue;
    const call = { type: 'tool-call', id: part.toolCallId, name: part.toolName } as const;
    parts.chunk(`${index}`, call, JSON.stringify(part.input ?? {}));
    parts.close(`${index}`);
  }
};
