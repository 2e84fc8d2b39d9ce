import type { ToolEffect } from '@h/turn';
import * as z from 'zod';
import { defineTool, type Tool, type ToolContext, type ToolReturn } from '../src/define-tool.js';

type Run = (input: { id: string }, context: ToolContext) => ToolReturn | Promise<ToolReturn>;

/** Defines a tool, by default a read of the file that its id names. */
export const testTool = (
  name: string,
  run: Run,
  more: { effect?: ToolEffect; timeoutMs?: number; external?: boolean } = {},
): Tool =>
  defineTool({
    name,
    description: name,
    input: z.object({ id: z.string().default('') }),
    effect: 'read-only',
    resources: ({ id }) => [`file:/${id}`],
    run,
    ...more,
  });

export const never = (): Promise<never> => new Promise(() => undefined);

export const after = (ms: number, value: ToolReturn = 'done'): Promise<ToolReturn> =>
  new Promise((resolve) => void setTimeout(resolve, ms, value));
