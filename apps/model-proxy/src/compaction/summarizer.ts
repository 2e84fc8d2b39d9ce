import type { Summarize } from '@h/compaction';
import { AnswerWatch } from '../calls/answer-watch.js';
import type { ProxyConfig } from '../config.js';
import { readFailure } from '../calls/failures.js';
import { answerText } from '../formats/answer-writer.js';
import { formats } from '../formats/convert.js';
import { baseOf, bodyHeaders, forwardedHeaders, type ClientRequest } from '../calls/forwarding.js';
import type { ProviderKey } from '../limits/keys.js';
import type { Amounts, Ledger, Party, PartyLimits } from '../limits/ledger.js';
import { amountsOf, inputTokensOf, type Meter } from '../limits/meter.js';
import { readersByFormat, type FormatName } from '../calls/routes.js';
import type { Upstream } from '../calls/upstream.js';
import { readRequest, type WireRequest } from '../wire/wire-request.js';

interface SummarizerParts {
  readonly config: ProxyConfig;
  readonly upstream: Upstream;
  readonly keys: readonly ProviderKey[];
  readonly meter: Meter;
  readonly ledger: Ledger;
}

/** The request whose conversation is summarized. */
interface SummarizerJob {
  readonly request: ClientRequest;
  readonly format: FormatName;
  readonly model: string;
  readonly party: Party;
  readonly limits: PartyLimits;
}

/** Settings of a request for a summary. */
const summaryRequest = {
  tools: [],
  toolChoice: undefined,
  hasParallelCalls: undefined,
  stop: [],
  output: undefined,
  isStream: false,
};

/**
 * Creates summarizers that ask a model of the client's provider, with the credential of the request. A summary counts
 * for the same budgets.
 */
export const createSummarizer =
  ({ config, upstream, keys, meter, ledger }: SummarizerParts) =>
  ({ request, format, model, party, limits }: SummarizerJob): Summarize =>
  async ({ instructions, text: question, maxOutputTokens }, { signal }) => {
    const { incoming, route } = request;
    const messages = [{ role: 'user' as const, content: question }];
    const asked = { ...summaryRequest, system: [instructions], messages, maxOutputTokens };
    const text = JSON.stringify(formats[format].write(asked, model));
    const wire = readRequest(format, text) as WireRequest;
    const hasCostLimit = Object.values(limits).some(({ cost }) => cost !== undefined);
    const inputTokens = inputTokensOf(text);
    const admission = ledger.admit(party, limits, meter.estimate(wire, inputTokens, route.provider, hasCostLimit));
    let used: Amounts = { tokens: 0, cost: 0 };
    try {
      const key = keys.find(({ provider }) => provider === route.provider);
      const length = ['content-length', String(Buffer.byteLength(text))] as const;
      const from = await upstream.send({
        base: baseOf(config, route.provider),
        method: 'POST',
        path: incoming.url ?? '/',
        headers: [...forwardedHeaders(incoming, key, bodyHeaders), length],
        body: Buffer.from(text),
        signal,
      });
      if ((from.statusCode ?? 502) >= 300) throw await readFailure(from, format);
      const watch = new AnswerWatch(readersByFormat[format](), from.headers);
      for await (const chunk of from as AsyncIterable<Buffer>) watch.push(chunk);
      const answer = await watch.end();
      const metered = meter.measure(inputTokens, route.provider, answer, model);
      used = amountsOf(metered);
      return { text: answerText(answer), usage: metered.usage };
    } finally {
      admission.settle(used);
    }
  };
