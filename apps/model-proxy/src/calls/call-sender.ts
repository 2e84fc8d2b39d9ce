import type { IncomingMessage } from 'node:http';
import { AnswerWatch } from './answer-watch.js';
import type { AttemptChoice } from './attempts.js';
import type { Call, CallContent, Outcome } from './call.js';
import type { ProxyConfig } from '../config.js';
import { relayConverted } from './converted-answer.js';
import { readFailure } from './failures.js';
import type { Target } from './fallbacks.js';
import { formats } from '../formats/convert.js';
import { baseOf, bodyHeaders, convertedHeaders, forwardedHeaders, noBody } from './forwarding.js';
import { applyEdits, editsAt, type TextEdit } from '../wire/json-edit.js';
import type { ProviderKey } from '../limits/keys.js';
import type { Admission } from '../limits/ledger.js';
import { Refusal } from './refusal.js';
import { limitPauses, relayBody, relayHead } from './relay.js';
import { readersByFormat } from './routes.js';
import type { Upstream } from './upstream.js';

export interface CallSenderOptions {
  readonly config: ProxyConfig;
  readonly upstream: Upstream;
}

/** Sends an admitted call to a provider and relays the answer to the client. */
export class CallSender {
  readonly #options: CallSenderOptions;

  constructor(options: CallSenderOptions) {
    this.#options = options;
  }

  /** Makes one attempt, and forwards its answer while reading a copy of it. */
  async send(call: Call, { target, key }: AttemptChoice, holdsFailures: boolean): Promise<Outcome> {
    if (target?.request) return this.#sendConverted(call, target, key);
    const { request, format, admission, startedAt } = call;
    const { outgoing } = request;
    const from = await this.#request(call, target, key);
    const status = from.statusCode ?? 502;
    if (holdsFailures && status >= 400) throw await readFailure(from, format);
    call.content = undefined;
    request.body = noBody;
    const firstByteMs = performance.now() - startedAt;
    const watch = status < 400 ? new AnswerWatch(readersByFormat[format](), from.headers) : undefined;
    relayHead(from, outgoing, answerHeaders(admission, target));
    limitPauses(outgoing, this.#options.config.timeouts.idleMs);
    const delivery = await relayBody(from, outgoing, watch);
    const answer = await watch?.end();
    return { status, delivery, firstByteMs, answer, target, model: target?.model ?? call.model, credential: key?.id };
  }

  /** Sends the request to its provider. Returns the head of the answer. */
  #request(call: Call, target: Target | undefined, key: ProviderKey | undefined): Promise<IncomingMessage> {
    const { config, upstream } = this.#options;
    const { incoming, route, signal, body } = call.request;
    const { wire, text: given } = contentOf(call);
    const text = target === undefined ? given : applyEdits(given, modelEdits(given, target.model));
    const isChanged = text !== wire.text;
    return upstream.send({
      base: baseOf(config, route.provider),
      method: 'POST',
      path: incoming.url ?? '/',
      headers: isChanged
        ? [...forwardedHeaders(incoming, key, bodyHeaders), ['content-length', String(Buffer.byteLength(text))]]
        : forwardedHeaders(incoming, key),
      body: isChanged ? Buffer.from(text) : body,
      signal,
    });
  }

  /** Makes one attempt with a model of another format, and converts its answer. */
  async #sendConverted(call: Call, target: Target, key: ProviderKey | undefined): Promise<Outcome> {
    const { config, upstream } = this.#options;
    const { request, admission, startedAt } = call;
    const { wire } = contentOf(call);
    const { incoming, outgoing: to, signal } = request;
    const { provider, format, model } = target;
    const text = JSON.stringify(target.request);
    const from = await upstream.send({
      base: baseOf(config, provider),
      method: 'POST',
      path: formats[format].path,
      headers: convertedHeaders(incoming, key, text),
      body: Buffer.from(text),
      signal,
    });
    const status = from.statusCode ?? 502;
    if (status >= 300) throw await readFailure(from, format);
    const firstByteMs = performance.now() - startedAt;
    const headers = answerHeaders(admission, target);
    const { idleMs } = config.timeouts;
    const { delivery, answer } = await relayConverted({ from, to, format, wire, model, headers, signal, idleMs });
    return { status, delivery, firstByteMs, answer, target, model, credential: key?.id };
  }
}

/** An attempt after the beginning of an answer would be a defect: the client cannot receive a second answer. */
const contentOf = ({ content }: Call): CallContent => {
  if (content) return content;
  throw new Refusal('internal', 'A call was attempted again after its answer had begun.');
};

const modelEdits = (text: string, model: string): readonly TextEdit[] =>
  editsAt(text, [{ path: ['model'], value: model }]);

const answerHeaders = ({ warnings }: Admission, target: Target | undefined): readonly string[] => [
  ...warnings.flatMap((warning) => ['x-h-budget-warning', warning]),
  ...(target ? ['x-h-fallback', encodeURI(`${target.provider}/${target.model}`)] : []),
];
