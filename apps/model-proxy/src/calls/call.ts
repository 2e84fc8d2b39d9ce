import type { ErrorInfo } from '@h/turn';
import type { CacheWatch } from './cache-watch.js';
import type { Compacted } from '../compaction/compactor.js';
import type { Conversation } from './conversations.js';
import type { Fallbacks, Target } from './fallbacks.js';
import type { Answer } from '../formats/answer.js';
import type { ClientRequest } from './forwarding.js';
import type { Admission } from '../limits/ledger.js';
import type { Delivery } from './relay.js';
import type { FormatName } from './routes.js';
import type { WireRequest } from '../wire/wire-request.js';

/** A model call after it has passed the checks. */
export interface Call {
  readonly request: ClientRequest;
  readonly format: FormatName;
  readonly model: string | undefined;
  readonly isStream: boolean;
  /** What attempts send. Discarded when an answer begins, so that streams do not retain the conversations. */
  content: CallContent | undefined;
  /** Estimated tokens of the request. */
  inputTokens: number;
  compaction: CompactionNews;
  readonly fallbacks: Fallbacks;
  readonly conversation: Conversation;
  /** Reports a change of the cached beginning, once the usage is known. */
  readonly compareCache: ReturnType<CacheWatch['compare']>;
  readonly admission: Admission;
  readonly startedAt: number;
}

export interface CallContent {
  /** The request of the client. */
  readonly wire: WireRequest;
  /** The body for the provider: that of the client unless a guard changed it. */
  readonly text: string;
  /** Compacts the request further after an overflow. */
  readonly compactAfter: (failure: ErrorInfo) => Promise<Compacted>;
}

export type CompactionNews = Pick<Compacted, 'report' | 'failure'>;

/** The outcome of an attempt, for the log. */
export interface Outcome {
  readonly status: number;
  readonly delivery: Delivery;
  readonly answer?: Answer | undefined;
  readonly firstByteMs?: number | undefined;
  readonly model?: string | undefined;
  /** The model that was asked instead of the requested one. */
  readonly target?: Target | undefined;
  readonly credential?: string | undefined;
  /** Why the proxy answered without a provider. */
  readonly error?: Answer['error'];
}
