import {
  toErrorInfo,
  type ToolDefinition,
  type ToolPaths,
  type ToolDriver,
  type ToolDriverOutput,
  type ToolOutcome,
  type ToolRunContext,
} from '@h/turn';
import { Observable } from 'rxjs';
import type { SubagentTool } from '../src/index.js';

type Run = (input: never, context: ToolRunContext & { readonly call: { readonly id: string } }) => unknown;

/** A tool for one test. */
export interface TestTool {
  readonly name: string;
  readonly run: Run;
  readonly paths?: ToolPaths;
}

/** Runs all calls of a step concurrently, in the simplest way. */
export const driverOf = (...tools: readonly (SubagentTool | TestTool)[]): ToolDriver => {
  const definitions = tools.map((tool): ToolDefinition => ({
    name: tool.name,
    description: tool.name,
    inputSchema: 'input' in tool ? tool.input : { type: 'object' },
    ...('paths' in tool && tool.paths !== undefined && { paths: tool.paths }),
  }));
  const outcomeOf = async (
    tool: SubagentTool | TestTool | undefined,
    input: unknown,
    context: Parameters<Run>[1],
  ): Promise<ToolOutcome> => {
    try {
      const value = await (tool as { readonly run: Run }).run(input as never, context);
      return {
        status: 'ok',
        output: { type: 'text', value: typeof value === 'string' ? value : JSON.stringify(value) },
      };
    } catch (error) {
      const info = toErrorInfo(error);
      return { status: 'failed', error: info, output: { type: 'error-text', value: info.message } };
    }
  };
  return {
    definitions: () => definitions,
    run: (calls, context) =>
      new Observable<ToolDriverOutput>((subscriber) => {
        const { turn, session, step, signal, skipSignal } = context;
        const answers = calls.map(async (call) => {
          const tool = tools.find(({ name }) => name === call.name);
          const outcome = await outcomeOf(tool, call.input, { turn, session, step, signal, skipSignal, call });
          subscriber.next({ type: 'result', id: call.id, outcome });
        });
        void Promise.all(answers).then(() => subscriber.complete());
      }),
  };
};
