import { AckPolicy, DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { nanos, TimeoutError } from '@nats-io/nats-core';

const expiresMs = 5_000;
/** The server removes a consumer that a dead process has left after this time. */
const inactiveMs = 60_000;

/**
 * Yields the messages of a subject in order, a few at a time, so that a slow reader does not fill the memory.
 *
 * Ends after the last message. Throws `TimeoutError` if a message was lost on the way; the caller reads again.
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
        // Delivered twice.
        if (message.info.deliverySequence <= received) continue;
        received += 1;
        if (message.info.deliverySequence !== received) throw new TimeoutError();
        yield message;
        if (message.info.pending === 0) return;
      }
      if (received === before) throw new TimeoutError();
    }
  } finally {
    await manager.consumers.delete(stream, name).catch(() => false);
  }
}
