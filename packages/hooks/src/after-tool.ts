import type { JSONValue, ToolOutcome, ToolResultOutput, TurnEventOf } from '@h/turn';
import type { Ruling } from './gates.js';
import { chain, untilDone } from './maybe.js';
import type { TurnHooks } from './turn-hooks.js';

const ran: ReadonlySet<ToolOutcome['status']> = new Set(['ok', 'stored', 'failed', 'timed-out']);

/** Passes a result through the hooks; each receives it as changed by the previous ones. */
export const afterTool = (hooks: TurnHooks, event: TurnEventOf<'tool.result'>, contexts: readonly string[]): Ruling => {
  let result = contexts.reduce(withContext, event);
  const gates = ran.has(event.status) ? hooks.at('afterTool') : [];
  const asked = untilDone(gates, (hook) =>
    chain(hooks.call(hook, 'afterTool', event.at, { call: event.call, outcome: result }), (called) => {
      if ('error' in called) {
        if (hooks.isClosed(hook, 'afterTool')) {
          result = withOutput(result, {
            type: 'error-text',
            value: `The result is withheld: the hook ${hook.name} failed on it.`,
          });
        }
        return false;
      }
      const { output, context } = called.answer ?? {};
      if (output !== undefined) {
        result = withOutput(
          result,
          typeof output === 'string'
            ? { type: result.status === 'ok' || result.status === 'stored' ? 'text' : 'error-text', value: output }
            : output,
        );
      }
      if (context !== undefined) result = withContext(result, context);
      return false;
    }),
  );
  return chain(asked, () => (result === event ? undefined : result));
};

type Result = TurnEventOf<'tool.result'>;

const withOutput = (result: Result, output: ToolResultOutput): Result => ({ ...result, output });

const withContext = (result: Result, context: string): Result => withOutput(result, appended(result.output, context));

/** Appends a context to an output. JSON becomes content, or text in the case of an error. */
export const appended = (output: ToolResultOutput, context: string): ToolResultOutput => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: output.value === '' ? context : `${output.value}\n\n${context}` };
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text: context }] };
    case 'json':
      return { type: 'content', value: [text(output.value), { type: 'text', text: context }] };
    case 'error-json':
      return { type: 'error-text', value: `${JSON.stringify(output.value)}\n\n${context}` };
    case 'execution-denied':
      return { ...output, reason: output.reason === undefined ? context : `${output.reason}\n\n${context}` };
  }
};

const text = (value: JSONValue): { readonly type: 'text'; readonly text: string } => ({
  type: 'text',
  text: JSON.stringify(value),
});
