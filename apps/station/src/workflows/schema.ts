import * as z from 'zod';
import { entityName } from '../config/schema.js';
import { duration } from '../config/units.js';

/** The target that ends a run. */
export const endState = 'end';

const text = z.string().min(1);
const scalar = z.union([z.string(), z.number(), z.boolean()]);

const condition = z
  .strictObject({
    value: text.describe('Path of a value: `input.<key>`, `<state>` for its output, or `<state>.<key>`.'),
    equals: scalar.exactOptional(),
    not_equals: scalar.exactOptional(),
    contains: text.exactOptional().describe('Part of a text, regardless of case, or an item of a list.'),
    above: z.number().exactOptional(),
    below: z.number().exactOptional(),
    exists: z.boolean().exactOptional(),
  })
  .refine((fields) => Object.keys(fields).length === 2, 'a condition has a value and exactly one comparison');
export type Condition = z.output<typeof condition>;

const choice = z.strictObject({ when: condition.exactOptional(), to: text });
const transition = z
  .union([text, z.array(choice).min(1)])
  .describe('Next state, `end`, or a list of choices of which the first that applies is taken.');

const retry = z
  .strictObject({
    attempts: z.int().min(1).max(20).default(1).describe('Attempts of the step, the first included.'),
    delay: duration.prefault('5s').describe('Pause before the next attempt.'),
  })
  .prefault({});

const agentStep = {
  agent: entityName.describe('Agent that runs the step.'),
  input: text.default('{{input}}').describe('Message for the agent. `{{path}}` inserts a value.'),
  output: z
    .enum(['text', 'json'])
    .default('text')
    .describe('Whether the answer is parsed, for conditions on its keys.'),
  files: z.array(text).default([]).describe('Files of its workspace that later steps receive.'),
  timeout: duration.prefault('1h').describe('Longest time of an attempt.'),
  retry,
};

const common = {
  name: entityName.refine((name) => name !== endState && name !== 'input', 'is reserved'),
  transition,
  on_error: text.exactOptional().describe('State after a failure. Without it, the run fails.'),
};

export const stateSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('agent'), ...common, ...agentStep }),
  z.strictObject({
    type: z.literal('parallel'),
    ...common,
    branches: z
      .array(z.strictObject({ name: entityName, ...agentStep }))
      .min(1)
      .max(50),
  }),
  z.strictObject({
    type: z.literal('approval'),
    ...common,
    message: text.default('The workflow asks for an approval.').describe('What the person reads.'),
    timeout: duration.prefault('24h').describe('Time after which the request counts as denied.'),
    denied: text.exactOptional().describe('State after a denial. Without it, the run fails.'),
  }),
  z.strictObject({ type: z.literal('wait'), ...common, for: duration.describe('Pause before the transition.') }),
]);

/** A workflow file. */
export const workflowSchema = z.strictObject({
  id: entityName,
  name: text.max(200),
  description: z.string().max(2_000).default(''),
  timeout: duration.prefault('24h').describe('Longest time of a run, pauses included.'),
  max_visits: z.int().min(1).max(1_000).default(10).describe('Visits of one state after which the run fails.'),
  states: z.array(stateSchema).min(1).max(200),
});

export type Workflow = z.output<typeof workflowSchema>;
export type WorkflowState = Workflow['states'][number];
export type AgentStep = Pick<
  Extract<WorkflowState, { type: 'agent' }>,
  'agent' | 'input' | 'output' | 'files' | 'timeout' | 'retry'
>;

/** The states that may follow a state. */
export const targetsOf = (state: WorkflowState): readonly string[] => {
  const regular = typeof state.transition === 'string' ? [state.transition] : state.transition.map(({ to }) => to);
  const denied = state.type === 'approval' && state.denied !== undefined ? [state.denied] : [];
  return [...new Set([...regular, ...denied, ...(state.on_error === undefined ? [] : [state.on_error])])];
};
