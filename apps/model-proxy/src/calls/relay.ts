import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerWatch } from './answer-watch.js';
import { endToEnd } from '../wire/headers.js';

/** How the delivery of an answer ended. */
export type Delivery = 'complete' | 'client-left' | 'provider-broke';

/** Bytes of an answer that are collected before its copy is read: one pass over many small events costs less. */
const batchBytes = 8_192;

/** Sends the head of a provider's answer to the client: status, and headers with their order and spelling. */
export const relayHead = (from: IncomingMessage, to: ServerResponse, added: readonly string[] = []): void => {
  to.sendDate = false;
  to.writeHead(from.statusCode ?? 502, from.statusMessage, [...endToEnd(from.rawHeaders).flat(), ...added]);
  // The first chunk usually arrives with the head, and then both leave in one packet.
  setImmediate(() => {
    if (!to.destroyed) to.flushHeaders();
  });
};

/**
 * Disconnects a client that reads nothing of its answer for this time, as long as a provider may pause. Set when the
 * answer begins, because the connection is silent before.
 */
export const limitPauses = (to: ServerResponse, idleMs: number): void => {
  to.setTimeout(idleMs, () => to.destroy());
};

/**
 * Forwards the body of an answer to the client, chunk by chunk as it arrives, at the pace of the client.
 *
 * If the provider breaks the connection, the connection to the client is destroyed too, so that the client does not
 * mistake a part for the whole answer.
 */
export const relayBody = (
  from: IncomingMessage,
  to: ServerResponse,
  watch: AnswerWatch | undefined,
): Promise<Delivery> =>
  new Promise((resolve) => {
    const copy = watch && new Batches((batch) => watch.push(batch));
    const finish = (delivery: Delivery): void => {
      copy?.flush();
      to.off('close', onLeave);
      to.off('drain', onDrain);
      resolve(delivery);
    };
    const onLeave = (): void => {
      from.destroy();
      finish('client-left');
    };
    const onDrain = (): void => void from.resume();
    to.once('close', onLeave);
    to.on('drain', onDrain);
    from.on('data', (chunk: Buffer) => {
      // The client comes first; reading the copy must not delay it.
      if (!to.write(chunk)) from.pause();
      copy?.push(chunk);
    });
    from.once('end', () => void to.end(() => finish('complete')));
    const onBreak = (): void => {
      if (from.readableEnded) return;
      // A provider that waits for the client is silent, and is not the one that broke.
      const delivery = to.destroyed || to.writableNeedDrain ? 'client-left' : 'provider-broke';
      finish(delivery);
      to.destroy();
    };
    from.once('error', onBreak);
    from.once('close', onBreak);
    if (to.destroyed) onLeave();
  });

/** Joins small chunks. A batch is not reused, because its receiver may retain it. */
class Batches {
  readonly #onBatch: (batch: Buffer) => void;
  #batch = noBatch;
  #used = 0;

  constructor(onBatch: (batch: Buffer) => void) {
    this.#onBatch = onBatch;
  }

  push(chunk: Buffer): void {
    if (this.#used + chunk.length > batchBytes) this.flush();
    if (chunk.length > batchBytes) return this.#onBatch(chunk);
    if (this.#used === 0) this.#batch = Buffer.allocUnsafe(batchBytes);
    this.#used += chunk.copy(this.#batch, this.#used);
  }

  flush(): void {
    if (this.#used > 0) this.#onBatch(this.#batch.subarray(0, this.#used));
    this.#batch = noBatch;
    this.#used = 0;
  }
}

const noBatch = Buffer.alloc(0);
