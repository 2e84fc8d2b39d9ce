import type { ServerResponse } from 'node:http';
import { jsonDepth } from '@h/bounded';
import { cacheHitRate } from '@h/prices';
import { createRedactor } from '@h/redact';
import type { ErrorInfo } from '@h/turn';
import { Attempts, describeFailure, UpstreamFailure, type AttemptChoice } from './attempts.js';
import { CacheWatch } from './cache-watch.js';
import { CallLog } from './call-log.js';
import { CallSender, type CallSenderOptions } from './call-sender.js';
import type { Call, Outcome } from './call.js';
import { CompactionFile } from '../compaction/compaction-file.js';
import { Compactor, type Compacted } from '../compaction/compactor.js';
import { Conversations, type Conversation } from './conversations.js';
import { sendFailure } from './failures.js';
import { fallbacksOf, thinkingEdits } from './fallbacks.js';
import type { Answer } from '../formats/answer.js';
import type { ClientRequest } from './forwarding.js';
import { applyEdits, editsAt } from '../wire/json-edit.js';
import { readKeys, type ProviderKey } from '../limits/keys.js';
import { Ledger, type Party, type PartyLimits } from '../limits/ledger.js';
import { warnOfLoops } from './loop-guard.js';
import { amountsOf, inputTokensOf, Meter } from '../limits/meter.js';
import { Metrics } from '../metrics.js';
import { RequestRedactor } from '../redaction.js';
import { Refusal, type Provider } from './refusal.js';
import { textOfBody } from '../wire/request-body.js';
import type { FormatName } from './routes.js';
import { createSummarizer } from '../compaction/summarizer.js';
import { openProxyTelemetry, type ProxyTelemetry } from '../telemetry.js';
import { readRequest, type WireRequest } from '../wire/wire-request.js';

/** Deeper requests would overflow the stack of the guards. */
const maxDepth = 200;
const tooDeep = `The body is nested deeper than ${maxDepth} levels.`;

/** What model calls need. */
export interface ModelCallsOptions extends CallSenderOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly random: () => number;
}

interface Parts {
  readonly ledger: Ledger;
  readonly meter: Meter;
  readonly keys: readonly ProviderKey[];
  readonly redactor: RequestRedactor | undefined;
  readonly compactor: Compactor | undefined;
  readonly telemetry: ProxyTelemetry;
}

/** A request whose body is that for the provider, but for its compaction. */
interface Shaped {
  readonly request: ClientRequest;
  readonly format: FormatName;
  readonly shaped: string;
  readonly conversation: Conversation;
  readonly party: Party;
  readonly limits: PartyLimits;
}

const noAnswer: Answer = {
  usage: undefined,
  model: undefined,
  id: undefined,
  content: [],
  finishReason: 'other',
  outputChars: 0,
  isComplete: false,
  error: undefined,
};
const inBackground =
  'The proxy cannot measure an answer in the background. Send "background": false, or set "unmetered: pass".';
const nothingUsed = { tokens: 0, cost: 0 };
const noLimits = {};

/** The status in the log of a call whose client left before its answer began. */
const clientLeft = 499;

/** The outcome of a call that failed before its answer began. If it was aborted, it has caused work all the same. */
const unanswered = (failure: unknown, model: string | undefined, isAborted: boolean): Outcome => {
  const answer = isAborted ? noAnswer : undefined;
  if (isAborted && !(failure instanceof Refusal)) return { status: clientLeft, delivery: 'client-left', answer, model };
  const { status, kind, message } = failure instanceof Refusal ? failure : new Refusal('internal', 'The proxy failed.');
  return { status, delivery: 'complete', answer, model, error: { type: kind, message } };
};

/** Sends the failed answer of an attempt to the client. */
const forwardFailure = (
  { request, format, model }: Call,
  failure: UpstreamFailure,
  { target, key }: AttemptChoice,
): Outcome => {
  sendFailure(failure, format, request.outgoing);
  const { status } = failure;
  return { status, delivery: 'complete', target, model: target?.model ?? model, credential: key?.id };
};

/** Handles the model calls of clients: recognizes conversations, counts usage, and forwards the bytes. */
export class ModelCalls {
  readonly #options: ModelCallsOptions;
  readonly #parts: Parts;
  readonly #conversations = new Conversations();
  readonly #metrics = new Metrics();
  readonly #log: CallLog;
  readonly #attempts: Attempts;
  readonly #sender: CallSender;
  readonly #redactor: RequestRedactor | undefined;
  /** Redacts errors of the provider, in which it may quote a key. */
  readonly #redactError = createRedactor().redact;
  readonly #cacheWatch: CacheWatch;
  readonly #summarizer: ReturnType<typeof createSummarizer>;

  private constructor(options: ModelCallsOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#log = new CallLog(options.config.log);
    this.#attempts = new Attempts(parts.keys, parts.telemetry, options.now);
    this.#sender = new CallSender(options);
    this.#redactor = parts.redactor;
    this.#cacheWatch = new CacheWatch(parts.meter.costOf);
    this.#summarizer = createSummarizer({ ...options, ...parts });
    this.#conversations.restore(parts.ledger.links);
  }

  static async open(options: ModelCallsOptions): Promise<ModelCalls> {
    const { config, env, now, random } = options;
    const keys = readKeys(config, env);
    const redactor = RequestRedactor.from(config, env);
    const meter = await Meter.load(config);
    const ledger = await Ledger.open({ folder: config.state, now, random, warnAt: config.budgets.warnAt });
    try {
      // The ledger holds the lock of the folder.
      const compactor = config.compaction
        ? new Compactor(config.compaction, await CompactionFile.open(config.state))
        : undefined;
      const telemetry = await openProxyTelemetry(config, meter.costOf);
      return new ModelCalls(options, { keys, redactor, meter, ledger, compactor, telemetry });
    } catch (error) {
      await ledger.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#log.close();
    await Promise.all([this.#parts.ledger.close(), this.#parts.telemetry.close()]);
  }

  /** Returns a key of the provider for requests that generate nothing. */
  anyKey(provider: Provider): ProviderKey {
    const key = this.#parts.keys.find((known) => known.provider === provider);
    if (key) return key;
    throw new Refusal('forbidden', `The proxy has no key of the provider ${provider}. Add one to ${provider}.keys.`);
  }

  /** Sends a page of the proxy itself. */
  async page(name: string, outgoing: ServerResponse): Promise<void> {
    if (name !== 'metrics' && name !== 'health') {
      throw new Refusal('not-found', `The proxy has no page ${JSON.stringify(name)}; it has "metrics" and "health".`);
    }
    const { registry } = this.#metrics;
    const [type, text] =
      name === 'metrics'
        ? [registry.contentType, await registry.metrics()]
        : ['application/json', JSON.stringify({ status: 'ok' })];
    outgoing.writeHead(200, { 'content-type': type });
    outgoing.end(text);
  }

  /** Answers a model call. */
  async call(request: ClientRequest): Promise<void> {
    this.#metrics.active.inc();
    const startedAt = performance.now();
    try {
      const call = await this.#admit(request, startedAt);
      await this.#perform(call);
    } catch (error) {
      if (error instanceof Refusal) this.#metrics.refusals.inc({ kind: error.kind });
      throw error;
    } finally {
      this.#metrics.active.dec();
    }
  }

  async #admit(request: ClientRequest, startedAt: number): Promise<Call> {
    const { config } = this.#options;
    const { incoming, route, client, body } = request;
    const format = route.format as FormatName;
    const text = await textOfBody(body, incoming.headers['content-encoding'], config.maxBodyBytes);
    const wire = readRequest(format, text);
    if (!wire) throw new Refusal('invalid-request', 'The body of the request is not a JSON object.');
    if (jsonDepth(text) > maxDepth) throw new Refusal('invalid-request', tooDeep);
    const isInBackground = format === 'openai-responses' && (wire.value['background'] ?? false) !== false;
    if (isInBackground && config.unmetered === 'deny') throw new Refusal('forbidden', inBackground);
    const shaped = this.#shape(wire);
    const conversation = this.#conversations.recognize(client.name, incoming.headers, wire);
    const limits = this.#limitsOf(client.name);
    const hasCostLimit = Object.values(limits).some(({ cost }) => cost !== undefined);
    const party = { client: client.name, conversation: conversation.id };
    const job = { request, format, shaped, conversation, party, limits };
    const { text: sent, ...compaction } = await this.#compact(job);
    const inputTokens = inputTokensOf(sent);
    const estimate = this.#parts.meter.estimate(wire, inputTokens, route.provider, hasCostLimit);
    const fallbacks = fallbacksOf(config, route.provider, wire, () => readRequest(format, sent));
    const admission = this.#parts.ledger.admit(party, limits, estimate);
    const compareCache = this.#cacheWatch.compare(conversation, wire);
    const content = { wire, text: sent, compactAfter: (failure: ErrorInfo) => this.#compact(job, failure) };
    const { model, isStream } = wire;
    const known = { request, format, model, isStream, fallbacks, conversation, compareCache, admission, startedAt };
    return { ...known, content, inputTokens, compaction };
  }

  /** Returns the body for the provider: with warnings of loops, and without secrets. */
  #shape(wire: WireRequest): string {
    const changes = this.#options.config.loops ? warnOfLoops(wire) : [];
    const shaping = [...editsAt(wire.text, changes), ...thinkingEdits(this.#options.config, wire)];
    const text = shaping.length === 0 ? wire.text : applyEdits(wire.text, shaping);
    const edits = this.#redactor?.edits(text) ?? [];
    return edits.length === 0 ? text : applyEdits(text, edits);
  }

  /** Compacts the conversation of a request, if the configuration requests it. */
  async #compact(
    { request, format, shaped, conversation, party, limits }: Shaped,
    failure?: ErrorInfo,
  ): Promise<Compacted> {
    const { compactor } = this.#parts;
    const wire = compactor && readRequest(format, shaped);
    const { compaction: config } = this.#options.config;
    if (!compactor || !wire || !config) return { text: shaped };
    const summarize =
      config.summarizer === undefined
        ? undefined
        : this.#summarizer({ request, format, model: config.summarizer, party, limits });
    return compactor.compact({ wire, thread: conversation.thread, summarize, signal: request.signal, failure });
  }

  #limitsOf(client: string): PartyLimits {
    const { budgets, clients } = this.#options.config;
    const own = clients.find(({ name }) => name === client)?.limits;
    return { client: own ?? budgets.client, conversation: budgets.conversation ?? noLimits, day: budgets.day };
  }

  async #perform(call: Call): Promise<void> {
    const { request, conversation, model } = call;
    const { provider } = request.route;
    let outcome: Outcome;
    try {
      outcome = await this.#attempts.run<Outcome>({
        thread: conversation.thread,
        provider,
        model,
        fallbacks: call.fallbacks.targets,
        signal: request.signal,
        traceparent: request.incoming.headers['traceparent'],
        hasStarted: () => request.outgoing.headersSent,
        onRetry: () => this.#metrics.retries.inc({ provider }),
        attempt: (choice, holdsFailures) => this.#attempt(call, choice, holdsFailures),
        forward: async (failure, choice) => forwardFailure(call, failure, choice),
      });
    } catch (error) {
      this.#finish(call, unanswered(error, model, request.signal.aborted));
      throw error;
    }
    this.#finish(call, outcome);
  }

  /** Makes one attempt, and another one with a shorter conversation if the provider reports an overflow. */
  async #attempt(call: Call, choice: AttemptChoice, holdsFailures: boolean): Promise<Outcome> {
    if (!this.#parts.compactor || choice.target?.request) return this.#sender.send(call, choice, holdsFailures);
    const { request } = call;
    try {
      return await this.#sender.send(call, choice, true);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || !call.content) throw error;
      const { text, ...compaction } = await call.content.compactAfter(describeFailure(error));
      if (compaction.report) {
        const content = { ...call.content, text };
        Object.assign(call, { content, compaction, inputTokens: inputTokensOf(text) });
        this.#metrics.retries.inc({ provider: request.route.provider });
        return this.#sender.send(call, choice, holdsFailures);
      }
      if (holdsFailures) throw error;
      return forwardFailure(call, error, choice);
    }
  }

  /** Counts a call that has ended. */
  #finish(call: Call, outcome: Outcome): void {
    const { request, format, isStream, compaction, fallbacks, conversation, compareCache, admission, startedAt } = call;
    const { route, client } = request;
    const { answer, status, delivery, firstByteMs, credential } = outcome;
    const { provider } = outcome.target ?? route;
    const metered = answer && this.#parts.meter.measure(call.inputTokens, provider, answer, outcome.model);
    const link = answer && conversation.answered(answer);
    admission.settle(metered ? amountsOf(metered) : nothingUsed, link);
    const model = answer?.model ?? outcome.model ?? 'unknown';
    const cacheBreak = answer && compareCache(answer.usage, `${provider}/${model}`);
    if (cacheBreak) {
      const from = cacheBreak.from.replace(/\[.*/, '');
      this.#metrics.cacheBreaks.inc({ client: client.name, from });
    }
    this.#metrics.ended({ client: client.name, model }, status, metered);
    this.#log.write(() => ({
      type: 'model.call',
      at: new Date(this.#options.now()).toISOString(),
      client: client.name,
      conversation: conversation.id,
      thread: conversation.thread,
      format,
      requestedModel: call.model,
      provider,
      model,
      compaction: compaction.report,
      compactionFailure: compaction.failure === undefined ? undefined : this.#redactError(compaction.failure),
      skippedFallbacks: fallbacks.skipped.length > 0 ? fallbacks.skipped : undefined,
      credential,
      status,
      delivery,
      stream: isStream,
      durationMs: Math.round(performance.now() - startedAt),
      firstByteMs: firstByteMs === undefined ? undefined : Math.round(firstByteMs),
      ...(metered && {
        usage: metered.usage,
        estimated: metered.isEstimated,
        cost: metered.cost,
        cacheHitRate: cacheHitRate(metered.usage),
      }),
      cacheBreak,
      finishReason: answer?.finishReason,
      error: answer?.error ?? outcome.error,
    }));
  }
}
