import * as z from 'zod';
import { errorInfoSchema } from './error-info.js';
import type { ApprovalDecision, TurnEventType, TurnOutcome } from './events.js';
import { jsonObjectSchema, jsonValueSchema } from './json.js';
import { messageSchema, userMessageSchema } from './messages.js';
import { modelRequestSchema, modelResponseSchema } from './model.js';
import { toolCallSchema, toolOutcomeSchema } from './tool.js';
import { usageSchema } from './usage.js';

export const turnOutcomeSchema: z.ZodType<TurnOutcome> = z.enum([
  'completed',
  'replied',
  'cancelled',
  'timed-out',
  'max-steps',
  'budget-exceeded',
  'loop-detected',
  'blocked',
  'error',
]);

export const approvalDecisionSchema: z.ZodType<ApprovalDecision> = z.strictObject({
  decision: z.enum(['once', 'session', 'always', 'deny']),
  pattern: z.string().optional(),
  reason: z.string().optional(),
});

const step = z.int().positive();
const call = { step, attempt: z.int().positive() };
const messages = z.array(messageSchema);
const reason = z.string().optional();

/** The payload of each event of the loop. Notices are typed only and have no schema. */
const payloads = {
  'turn.start': z.object({
    session: z.string(),
    input: z.array(userMessageSchema),
    trigger: z.string(),
    priority: z.enum(['foreground', 'normal', 'background']).optional(),
    metadata: jsonObjectSchema.optional(),
  }),
  // The journal derives the messages of these events from earlier records, where they were checked.
  'session.loaded': z.object({
    session: z.string(),
    state: z.record(z.string(), jsonValueSchema),
    repairs: z.array(z.object({ problem: z.string(), index: z.int() })),
  }),
  'model.request': z.intersection(z.object(call), modelRequestSchema),
  'model.delta': z.object({
    ...call,
    delta: z.object({ type: z.enum(['text', 'reasoning', 'tool-input']), text: z.string() }),
  }),
  'model.response': z.intersection(z.object(call), modelResponseSchema),
  'model.error': z.object({
    ...call,
    error: errorInfoSchema,
    usage: usageSchema.optional(),
    retrying: z.boolean().optional(),
  }),
  'tool.call': z.object({
    step,
    index: z.int().nonnegative(),
    call: toolCallSchema,
    denied: z.object({ reason: z.string(), by: z.string().optional() }).optional(),
  }),
  'tool.progress': z.object({ step, call: toolCallSchema, progress: jsonValueSchema }),
  'tool.result': z.intersection(z.object({ step, call: toolCallSchema }), toolOutcomeSchema),
  'input.received': z.object({ id: z.string(), message: userMessageSchema }),
  'approval.request': z.object({
    id: z.string(),
    reason: z.string(),
    call: toolCallSchema.optional(),
    expiresAt: z.number().optional(),
  }),
  'approval.answer': z.intersection(
    z.object({ id: z.string() }),
    z.looseObject({ decision: z.enum(['once', 'session', 'always', 'deny']) }),
  ),
  'history.append': z.object({
    origin: z.string(),
    messages: messages.optional(),
    delivers: z.array(z.string()).optional(),
  }),
  'history.replace': z.object({ origin: z.string(), messages }),
  'session.state': z.object({ key: z.string(), value: jsonValueSchema }),
  'turn.continue': z.object({ messages, reason: z.string() }),
  'turn.stop': z.object({
    outcome: turnOutcomeSchema,
    reason,
    error: errorInfoSchema.optional(),
    afterStep: z.int().optional(),
  }),
  'turn.end': z.object({
    outcome: turnOutcomeSchema,
    reason,
    error: errorInfoSchema.optional(),
    steps: z.int().nonnegative(),
    usage: usageSchema,
    undelivered: z.array(userMessageSchema).optional(),
  }),
} satisfies Partial<Record<TurnEventType, z.ZodType>>;

const envelope = z.object({
  turn: z.string(),
  at: z.number(),
  replayed: z.literal(true).optional(),
  annotations: jsonObjectSchema.optional(),
});

/** The schemas of the loop's events, by type, envelope included, for input from outside: a journal, a network. */
export const eventSchemas: { readonly [Type in keyof typeof payloads]: z.ZodType } = Object.fromEntries(
  Object.entries(payloads).map(([type, payload]) => [
    type,
    z.intersection(z.intersection(envelope, z.object({ type: z.literal(type) })), payload),
  ]),
) as unknown as { readonly [Type in keyof typeof payloads]: z.ZodType };
