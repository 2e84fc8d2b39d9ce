import type { CostOf } from '@h/prices';
import type { TurnEventOf } from '@h/turn';
import { monotonicClock } from './clock.js';
import type { RunIdentity } from './observation.js';
import type { ObserveOptions } from './options.js';
import type { RedactEvent, TextRules } from './plain-data.js';
import { hashSessionKey } from './session-key.js';
import type { UsageMeter } from './usage/usage-meter.js';

/** The options of `observe()` with their defaults. */
export interface RunSettings {
  readonly redact: RedactEvent;
  readonly text: TextRules;
  readonly meter: UsageMeter | undefined;
  readonly costOf: CostOf | undefined;
  readonly provider: ObserveOptions['provider'];
  readonly sideModel: string | undefined;
  readonly estimatesTokens: boolean;
  readonly clock: () => number;
  identify(start: TurnEventOf<'turn.start'>): RunIdentity;
}

export const runSettings = (options: ObserveOptions): RunSettings => {
  const { meter, costOf = meter?.costOf, provider, sideModel, content = false, maxContentChars = 4000 } = options;
  const { redact = (event) => event, approximateTokens: estimatesTokens = false, clock = monotonicClock } = options;
  const session = sessionNamer(options);
  return {
    redact,
    text: { content, maxContentChars, session },
    meter,
    costOf,
    provider,
    sideModel,
    estimatesTokens,
    clock,
    identify: (start) => identify(start, session(start.session), options),
  };
};

const sessionNamer = ({ sessionKey = 'hash', sessionSalt }: ObserveOptions): ((session: string) => string) => {
  if (typeof sessionKey === 'function') return sessionKey;
  return sessionKey === 'plain' ? (session) => session : (session) => hashSessionKey(session, sessionSalt);
};

const identify = (
  start: TurnEventOf<'turn.start'>,
  sessionKey: string,
  { harnessId, channel, parentOf }: ObserveOptions,
): RunIdentity => {
  const { metadata, trigger } = start;
  const parentRunId = parentOf === undefined ? textIn(metadata, 'parentTurn') : parentOf(start);
  return {
    sessionId: textIn(metadata, 'sessionId') ?? sessionKey,
    sessionKey,
    parentRunId,
    harnessId,
    trigger,
    channel: typeof channel === 'function' ? channel(start) : (channel ?? textIn(metadata, 'channel')),
  };
};

const textIn = (metadata: TurnEventOf<'turn.start'>['metadata'], key: string): string | undefined => {
  const value = metadata?.[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Identity of a turn that was abandoned in a queue, before its start was observed. */
export const unknownIdentity: RunIdentity = { sessionId: '', sessionKey: '', trigger: 'unknown' };
