import * as z from 'zod';

/** The schemas of the HTTP interface. Its routes, the OpenAPI document and the page are built from them. */

/** Milliseconds since 1970. */
const time = z.number().int().nonnegative();
const id = z.string().min(1).max(200);
/** US dollars; `null` if the price of a model is unknown. */
const cost = z.number().nonnegative().nullable();

export const usage = z.object({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  cachedInputTokens: z.number().int().nonnegative(),
  cost,
});
export type StationUsage = z.infer<typeof usage>;

export const sessionState = z.enum(['idle', 'queued', 'running', 'waiting-for-input', 'failed']);
export type SessionState = z.infer<typeof sessionState>;

export const session = z.object({
  id,
  title: z.string(),
  agent: z.string(),
  state: sessionState,
  createdAt: time,
  updatedAt: time,
  /** The turn that runs or waits; `null` between turns. */
  turn: z.string().nullable(),
  /** How the latest turn ended, such as `completed` or `loop-detected`; `null` before the first end. */
  outcome: z.string().nullable(),
  reason: z.string().nullable(),
  messages: z.number().int().nonnegative(),
  openApprovals: z.number().int().nonnegative(),
  usage,
  /** The session and the turn that this one was forked from. */
  forkedFrom: z.object({ session: id, turn: id.nullable() }).nullable(),
  /** The workflow run that the session belongs to. */
  run: z.string().nullable(),
});
export type StationSession = z.infer<typeof session>;

export const sessionPage = z.object({ sessions: z.array(session), next: z.string().nullable() });
export const sessionQuery = z.object({
  query: z.string().max(500).optional(),
  agent: z.string().optional(),
  state: sessionState.optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** A file of a message, as base64. */
export const file = z.object({
  name: z.string().max(200).optional(),
  mediaType: z.string().regex(/^[\w.+-]{1,80}\/[\w.+-]{1,80}$/u),
  data: z.base64(),
});
export const messageMode = z.enum(['steer', 'followup', 'collect', 'interrupt']);
export const newMessage = z.strictObject({
  text: z.string().min(1).max(200_000),
  mode: messageMode.default('steer'),
  files: z.array(file).max(10).default([]),
});
export const acceptedMessage = z.object({ id, isNew: z.boolean() });

export const newSession = z.strictObject({
  agent: z.string().min(1),
  title: z.string().max(200).optional(),
  message: newMessage.optional(),
});
export const forkSession = z.strictObject({
  /** The last turn that the copy contains. @defaultValue the latest that has ended */
  turn: id.optional(),
  title: z.string().max(200).optional(),
});
export const cancelTurn = z.strictObject({ turn: id.optional(), reason: z.string().max(1_000).optional() });

/** A part of an entry, in the order in which the model or tool produced it. */
export const entryPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('reasoning'), text: z.string() }),
  z.object({ type: z.literal('file'), mediaType: z.string(), name: z.string().nullable(), artifact: id.nullable() }),
  z.object({
    type: z.literal('tool'),
    call: id,
    name: z.string(),
    input: z.json(),
    status: z.enum(['running', 'waiting', 'ok', 'error', 'denied', 'skipped', 'interrupted']),
    /** Text of the result, at most 20,000 characters; the whole is an artifact or in the transcript. */
    output: z.string().nullable(),
    isTruncated: z.boolean(),
    durationMs: z.number().nonnegative().nullable(),
    artifact: id.nullable(),
  }),
]);
/** A message of a session as the page shows it: results are parts of the calls that they answer. */
export const entry = z.object({
  /** Position in the session, from 0. */
  index: z.number().int().nonnegative(),
  role: z.enum(['user', 'assistant', 'system']),
  turn: id,
  at: time.nullable(),
  parts: z.array(entryPart),
});
export type StationEntry = z.infer<typeof entry>;
/** Entries before `before`, oldest first. `total` counts all entries of the session. */
export const entryPage = z.object({
  entries: z.array(entry),
  total: z.number().int().nonnegative(),
  /** The number of the latest event that these entries contain: pass it as `Last-Event-ID` to continue. */
  seq: z.number().int().nonnegative(),
});
export const entryQuery = z.object({
  before: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/**
 * `GET /sessions/{id}/events`, server-sent events. `event: turn` has the number of the event as `id` and a turn event
 * as data, redacted. `event: caught-up` has no id and says that the reader has everything so far.
 */
export const turnEvent = z.looseObject({ type: z.string(), turn: id, at: time });
export type StationTurnEvent = z.infer<typeof turnEvent>;

export const approval = z.object({
  id,
  session: id.nullable(),
  run: id.nullable(),
  turn: id.nullable(),
  agent: z.string().nullable(),
  reason: z.string(),
  /** The exact call that the answer applies to; `null` if a workflow asks. */
  call: z.object({ id, name: z.string(), input: z.json(), hash: z.string() }).nullable(),
  requestedAt: time,
  expiresAt: time.nullable(),
  state: z.enum(['open', 'approved', 'denied', 'expired', 'withdrawn']),
  decidedBy: z.string().nullable(),
  decidedAt: time.nullable(),
});
export type StationApproval = z.infer<typeof approval>;
export const approvalDecision = z.strictObject({
  decision: z.enum(['once', 'session', 'always', 'deny']),
  reason: z.string().max(1_000).optional(),
  /**
   * `call.hash` of the approval that was shown. Refused with 409 if it differs. Required if the approval has a call.
   */
  hash: z.string().optional(),
});
export const approvalLink = z.object({ url: z.url(), expiresAt: time });

export const lanes = z.object({
  capacity: z.number().int().nonnegative(),
  running: z.array(z.object({ session: id, turn: id.nullable(), since: time, worker: z.string().nullable() })),
  waiting: z.array(
    z.object({
      session: id,
      since: time,
      priority: z.string(),
      /** What it waits for: an earlier turn of the session, or a slot. */
      waitsFor: z.enum(['session', 'slot']),
      position: z.number().int().positive(),
    }),
  ),
});
export type StationLanes = z.infer<typeof lanes>;

/** A bar of the waterfall of a turn. */
export const traceBar = z.object({
  id: z.string(),
  parent: z.string().nullable(),
  kind: z.enum(['turn', 'step', 'model', 'tool', 'wait', 'subagent']),
  label: z.string(),
  startMs: z.number().nonnegative(),
  /** `null` while it lasts. */
  endMs: z.number().nonnegative().nullable(),
  isFailed: z.boolean(),
  usage: usage.nullable(),
});
export const traceMark = z.object({
  atMs: z.number().nonnegative(),
  kind: z.enum(['compaction', 'loop', 'failover', 'budget', 'approval', 'other']),
  label: z.string(),
});
export const turnTrace = z.object({
  turn: id,
  startedAt: time,
  bars: z.array(traceBar),
  marks: z.array(traceMark),
  outcome: z.string().nullable(),
  usage,
});
export type StationTrace = z.infer<typeof turnTrace>;

export const usageReport = z.object({
  days: z.array(z.object({ day: z.iso.date(), agent: z.string(), model: z.string(), turns: z.number().int(), usage })),
});

export const agentInfo = z.object({ name: z.string(), description: z.string(), model: z.string() });

export const workflowState = z.object({
  name: z.string(),
  type: z.enum(['agent', 'approval', 'parallel', 'wait']),
  /** Names of states that may follow; `end` ends the run. */
  next: z.array(z.string()),
});
export const workflow = z.object({ id, name: z.string(), description: z.string(), states: z.array(workflowState) });
export const workflowRun = z.object({
  id,
  workflow: id,
  state: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']),
  startedAt: time,
  endedAt: time.nullable(),
  error: z.string().nullable(),
  steps: z.array(
    z.object({
      state: z.string(),
      attempt: z.number().int().positive(),
      status: z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']),
      startedAt: time,
      endedAt: time.nullable(),
      session: id.nullable(),
      approval: id.nullable(),
      output: z.json().nullable(),
      error: z.string().nullable(),
    }),
  ),
});
export type StationWorkflow = z.infer<typeof workflow>;
export type StationRun = z.infer<typeof workflowRun>;
export const newRun = z.strictObject({ input: z.record(z.string(), z.json()).default({}) });

/**
 * `GET /events`, server-sent events about everything the caller may see. It begins with the current state: sessions of
 * the first page, open approvals, lanes, runs that have not ended, then `caught-up`. There is no replay: a client that
 * reconnects receives the current state again.
 */
export const stationEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), session }),
  z.object({ type: z.literal('session-deleted'), id }),
  z.object({ type: z.literal('approval'), approval }),
  z.object({ type: z.literal('lanes'), lanes }),
  z.object({ type: z.literal('run'), run: workflowRun }),
  z.object({ type: z.literal('caught-up') }),
]);
export type StationEvent = z.infer<typeof stationEvent>;

export const auditEntry = z.object({
  at: time,
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  detail: z.json().nullable(),
});
export type StationAuditEntry = z.infer<typeof auditEntry>;

/** The body of every response with a status of 400 or more. */
export const problem = z.object({
  code: z.string(),
  message: z.string(),
  /** The field that is wrong, such as `message.text`. */
  field: z.string().nullable(),
  isRetryable: z.boolean(),
});
