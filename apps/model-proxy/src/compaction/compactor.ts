import { bridge, FailedModelCall, TurnStoppedError } from '@h/bridge';
import { compaction, createTokenCounter, type Summarize } from '@h/compaction';
import { intercept, noUsage, type ErrorInfo, type PipelineOperator } from '@h/turn';
import type { CompactionFile } from './compaction-file.js';
import type { ProxyConfig } from '../config.js';
import { readHistory, textOfHistory, unitFormat, type HistoryUnit } from '../wire/history-units.js';
import { applyEdits } from '../wire/json-edit.js';
import { maxOutputOf, type WireRequest } from '../wire/wire-request.js';

/** What became of the conversation of a request. */
export interface Compacted {
  /** The body with the conversation as it is sent. */
  readonly text: string;
  /** For the log: the size before and after, if the conversation was compacted for this request. */
  readonly report?: { readonly tokensBefore: number; readonly tokensAfter: number } | undefined;
  /** Why a strategy failed. */
  readonly failure?: string | undefined;
}

/** A request to compact. */
export interface CompactionJob {
  /** The request as it would be sent. */
  readonly wire: WireRequest;
  readonly thread: string;
  readonly summarize: Summarize | undefined;
  readonly signal: AbortSignal;
  /** The error of the provider about this request. If it reports an overflow, the conversation is compacted further. */
  readonly failure?: ErrorInfo | undefined;
}

/**
 * Compacts the conversations of requests that approach the context window.
 *
 * Clients send the whole conversation again. A decision about its beginning is found by its content and applied to each
 * later request, byte for byte, so that the provider's cache stays valid.
 */
export class Compactor {
  readonly #config: Exclude<ProxyConfig['compaction'], false>;
  readonly #memory: CompactionFile;
  /** Size of the smallest request that was too long for its provider. Conversations from it on may have decisions. */
  #overflowBytes: number;
  readonly #counter = createTokenCounter();

  constructor(config: Exclude<ProxyConfig['compaction'], false>, memory: CompactionFile) {
    this.#config = config;
    this.#memory = memory;
    this.#overflowBytes = memory.isEmpty ? Infinity : 0;
  }

  /** Returns the body of a request with its conversation compacted. The reason of `signal` is thrown if it aborts. */
  async compact({ wire, thread, summarize, signal, failure: overflow }: CompactionJob): Promise<Compacted> {
    const { text, format, value, model } = wire;
    const { window, threshold, protectTokens } = this.#config;
    // A conversation that the provider stores is not in the request.
    const isStored = Boolean(value['previous_response_id'] ?? value['conversation']);
    // A token has two bytes or more, and at most half of the window is reserved for the answer.
    const bytes = Buffer.byteLength(text);
    const isShort = overflow === undefined && bytes < Math.min(window * threshold, this.#overflowBytes);
    const history = isStored || isShort ? undefined : readHistory(wire);
    if (!history) return { text };
    const reports: Pick<Compacted, 'report' | 'failure'>[] = [];
    const operator = compaction({
      window,
      threshold,
      memory: this.#memory,
      counter: this.#counter,
      ...(protectTokens !== undefined && { protectTokens }),
      ...(summarize && { summarize }),
      strategy: [...(summarize ? (['summarize'] as const) : []), 'clear-tool-results', 'compact'],
      // Requests are redacted before, if at all.
      redact: false,
    });
    let sent: readonly HistoryUnit[] = history.units;
    let pending = overflow;
    const session = bridge([operator, reporter(reports)], { host: 'the proxy', format: unitFormat }).session(thread);
    try {
      await session.model({
        messages: history.units,
        system: [{ text: JSON.stringify([value['system'], value['instructions'], value['tools'], history.head]) }],
        settings: { maxOutputTokens: maxOutputOf(wire) },
        ...(model !== undefined && { model }),
        signal,
        perform: ({ messages }) => {
          const error = pending;
          pending = undefined;
          if (error !== undefined) throw new FailedModelCall(overflow, error);
          sent = messages;
          return Promise.resolve({ response: noResponse, value: undefined });
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      // The error is not an overflow, or nothing can be removed.
      if (error === overflow) return { text };
      if (!(error instanceof TurnStoppedError)) throw error;
      return { text, failure: error.message };
    } finally {
      session.end();
    }
    const { report, failure } = Object.assign({}, ...reports) as Pick<Compacted, 'report' | 'failure'>;
    if (sent === history.units) return { text, failure };
    if (overflow && report) this.#overflowBytes = Math.min(this.#overflowBytes, bytes);
    const entries = textOfHistory(format, history, sent);
    return { text: applyEdits(text, [{ ...history.range, text: entries }]), report, failure };
  }
}

const noResponse = { content: [{ type: 'text' as const, text: ' ' }], finishReason: 'stop' as const, usage: noUsage };

const reporter = (reports: Pick<Compacted, 'report' | 'failure'>[]): PipelineOperator =>
  intercept('report', () => ({
    observe: {
      'compaction.done': ({ tokensBefore, tokensAfter }) => {
        reports.push({ report: { tokensBefore, tokensAfter } });
      },
      'compaction.failed': ({ message }) => {
        reports.push({ failure: message });
      },
    },
  }));
