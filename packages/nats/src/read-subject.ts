import { AckPolicy, DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { nanos, TimeoutError } from '@nats-io/nats-core';

const expiresMs = 5_000;
/** The server removes a consumer that a dead process has left after this time. */
const inactiveMs = 60_000;

/**
 * Yields the messages of a subject in order, a few at a time, so that a slow reader does not fill the memory.
 *
 * Ends after the last message. A request also counts messages that are delivered twice, so that others may be missing
 * afterwards: reading continues with the first of these. Throws `TimeoutError` if no message arrives; the caller reads
 * again.
 *
 * @param first - the sequence in the stream at which reading begins
 */
export async function* readSubject(
  client: JetStreamClient,
  manager: JetStreamManager,
  stream: string,
  subject: string,
  perRequest: number,
  first = 1,
): AsyncGenerator<JsMsg, void, undefined> {
  for (let next = first, hasMore = true; hasMore;) {
    const start = next;
    hasMore = false;
    for await (const message of readFrom(client, manager, stream, subject, perRequest, start)) {
      if (message === missing) {
        if (next === start) throw new TimeoutError();
        hasMore = true;
      } else {
        next = message.seq + 1;
        yield message;
      }
    }
  }
}

/** In place of messages that were not delivered. */
const missing = Symbol('missing');

/** Yields messages in order, and ends after the last one or with `missing`. */
async function* readFrom(
  client: JetStreamClient,
  manager: JetStreamManager,
  stream: string,
  subject: string,
  perRequest: number,
  first: number,
): AsyncGenerator<JsMsg | typeof missing, void, undefined> {
  const { name, num_pending: count } = await manager.consumers.add(stream, {
    filter_subject: subject,
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: first,
    inactive_threshold: nanos(inactiveMs),
    mem_storage: true,
    num_replicas: 1,
  });
  const consumer = await client.consumers.get(stream, name);
  try {
    let received = 0;
    while (received < count) {
      const before = received;
      const wanted = Math.min(perRequest, count - received);
      for await (const message of await consumer.fetch({ max_messages: wanted, expires: expiresMs })) {
        const { deliverySequence, pending } = message.info;
        // Delivered twice.
        if (deliverySequence <= received) continue;
        if (deliverySequence !== received + 1) return yield missing;
        received += 1;
        yield message;
        if (pending === 0) return;
      }
      if (received === before) return yield missing;
    }
  } finally {
    await manager.consumers.delete(stream, name).catch(() => false);
  }
}
