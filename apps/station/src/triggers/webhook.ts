import { createHmac, timingSafeEqual } from 'node:crypto';
import { CodedError } from '@h/options';

/** A webhook was not accepted. Codes: `unknown-trigger`, `unsigned`, `expired` and `bad-signature`. */
export class WebhookError extends CodedError {}

/** The parts of a request that are signed, as in the specification Standard Webhooks. */
export interface WebhookRequest {
  readonly headers: {
    /** `webhook-id`: the same for each delivery of a message. */
    readonly id: string | undefined;
    /** `webhook-timestamp`: seconds since 1970. */
    readonly timestamp: string | undefined;
    /** `webhook-signature`: signatures separated by spaces, `v1,<base64>`. */
    readonly signature: string | undefined;
  };
  readonly body: string;
}

/** Maximum number of signatures that are compared; senders use two while they replace a secret. */
const maxSignatures = 10;

/**
 * Checks signature and time of a webhook.
 *
 * @param secret the secret as text, or `whsec_` and base64
 * @param toleranceMs largest difference between the clocks
 * @param now milliseconds since 1970
 * @returns the id of the message, for the check of repetitions
 * @throws WebhookError
 */
export const verifyWebhook = (request: WebhookRequest, secret: string, toleranceMs: number, now: number): string => {
  const { id, timestamp, signature } = request.headers;
  if (id === undefined || !/^[\w.:-]{1,200}$/.test(id) || timestamp === undefined || signature === undefined) {
    const message = 'The request needs the headers webhook-id, webhook-timestamp and webhook-signature.';
    throw new WebhookError('unsigned', message);
  }
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1_000) > toleranceMs) {
    throw new WebhookError(
      'expired',
      `The timestamp ${JSON.stringify(timestamp)} differs from the clock of this server by more than ${toleranceMs} ms.`,
    );
  }
  const expected = Buffer.from(signatureOf(request.body, { id, timestamp }, secret));
  const isSigned = signature
    .split(' ', maxSignatures)
    .map((one) => Buffer.from(one))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  if (!isSigned) {
    throw new WebhookError('bad-signature', 'No signature of the request matches the secret of the trigger.');
  }
  return id;
};

/** The value of `webhook-signature`. */
export const signatureOf = (
  body: string,
  { id, timestamp }: { readonly id: string; readonly timestamp: string },
  secret: string,
): string => {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
};
