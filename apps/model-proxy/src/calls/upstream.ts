import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Refusal } from './refusal.js';

/** Times of a call to a provider, in milliseconds. */
export interface UpstreamTimes {
  /** Time until the provider sends the head of its answer. */
  readonly headMs: number;
  /** Longest pause within an answer. */
  readonly idleMs: number;
}

/** A request to a provider. */
export interface UpstreamRequest {
  readonly base: URL;
  readonly method: string;
  /** Path and query, as the client sent them. */
  readonly path: string;
  /** Headers in order, without `host`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** Connections to providers, which are reused. */
export class Upstream {
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;
  readonly #times: UpstreamTimes;

  constructor(times: UpstreamTimes) {
    const settings = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 256 };
    this.#http = new HttpAgent(settings);
    this.#https = new HttpsAgent(settings);
    this.#times = times;
  }

  /**
   * Sends a request and resolves with the head of the answer.
   *
   * Aborting `signal` destroys the connection, also while the body is read.
   *
   * @throws Refusal `unreachable` or `timed-out`; the reason of `signal` if it was aborted
   */
  async send(request: UpstreamRequest): Promise<IncomingMessage> {
    try {
      return await this.#attempt(request);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      // The provider closed an idle connection at the moment of its reuse; it has not read this request. The others may
      // be closed as well.
      return this.#attempt(request, false);
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #attempt({ base, method, path, headers, body, signal }: UpstreamRequest, isReusing = true): Promise<IncomingMessage> {
    const isSecure = base.protocol === 'https:';
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const outgoing = (isSecure ? httpsRequest : httpRequest)({
      agent: isReusing && (isSecure ? this.#https : this.#http),
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port === '' ? undefined : Number(base.port),
      servername: isSecure ? base.hostname : undefined,
      method,
      path: base.pathname.replace(/\/$/, '') + path,
      headers: ['host', base.host, ...headers.flat()],
      setHost: false,
    });
    const answer = this.#answerOf(outgoing, base, signal);
    outgoing.end(body);
    return answer;
  }

  /** Resolves with the head of the answer. Its listeners must not refer to the body, which would live as long as they do. */
  #answerOf(outgoing: ClientRequest, base: URL, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        outgoing.destroy(
          new Refusal('timed-out', `${base.host} sent no answer within ${this.#times.headMs} ms. Try again later.`),
        );
      }, this.#times.headMs);
      const onAbort = (): void => void outgoing.destroy(reasonOf(signal));
      signal.addEventListener('abort', onAbort, { once: true });
      const settle = (): void => clearTimeout(timer);
      outgoing.once('response', (incoming) => {
        settle();
        const { socket, statusMessage = '' } = incoming;
        // Node parses a status message with control characters, and throws when it is to send one.
        if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage)) incoming.statusMessage = '';
        // A reasoning model may pause for minutes, so the limit is generous. The socket outlives this answer.
        const onIdle = (): void =>
          void incoming.destroy(
            new Refusal(
              'timed-out',
              `${base.host} sent nothing for ${this.#times.idleMs} ms, so the answer was ended.`,
            ),
          );
        socket.setTimeout(this.#times.idleMs);
        socket.on('timeout', onIdle);
        incoming.once('close', () => {
          signal.removeEventListener('abort', onAbort);
          socket.off('timeout', onIdle);
          socket.setTimeout(0);
        });
        resolve(incoming);
      });
      // An answer that switches protocols closes the connection without an error. After an answer, this has no effect.
      outgoing.once('close', () => {
        settle();
        reject(unreachable(base, new Error('it sent no answer of HTTP')));
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        settle();
        signal.removeEventListener('abort', onAbort);
        if (signal.aborted) return reject(reasonOf(signal));
        if (error instanceof Refusal) return reject(error);
        const isStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(isStale ? new StaleConnection() : unreachable(base, error));
      });
    });
  }
}

class StaleConnection extends Error {}

const unreachable = (base: URL, error: NodeJS.ErrnoException): Refusal => {
  // Happy-eyeballs errors have an empty message and a code for each address.
  const cause = error.code ?? error.message;
  return new Refusal('unreachable', `${base.host} cannot be reached (${cause}). Check its URL and the network.`);
};

const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('The request was cancelled.');
