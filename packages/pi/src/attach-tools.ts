import { ToolCallError, type HostSession } from '@h/bridge';
import { TurnError, type ToolOutcome } from '@h/turn';
import type { AgentTool, AgentToolResult } from '@earendil-works/pi-agent-core';
import { validateToolArguments, type Message, type ToolCall } from '@earendil-works/pi-ai';
import { isErrorOutput, outputOf, resultContent } from './messages.js';

/** Any tool of pi: the types of its input and its details are its own. */
// oxlint-disable-next-line typescript/no-explicit-any -- the type that pi declares for its lists of tools
export type PiTool = AgentTool<any>;

/** The session of a call, and a receiver for results that end the run. */
export interface CallOwner {
  readonly session: HostSession<Message>;
  /** Called if a tool asks to end the run after its batch. */
  readonly onTerminate: () => void;
}

/** Returns the session in which a call was made. */
export type OwnerOfCall = (toolCallId: string, signal: AbortSignal | undefined) => CallOwner;

/** Wraps the `execute` of a tool, so that its calls pass the operators. */
export const attachTool = <Tool extends PiTool>(tool: Tool, ownerOf: OwnerOfCall): Tool => ({
  ...tool,
  execute: async (toolCallId, params: unknown, signal, onUpdate) => {
    const { session, onTerminate } = ownerOf(toolCallId, signal);
    let terminate: boolean | undefined;
    const { outcome, returned } = await session.tool<AgentToolResult<unknown>>({
      id: toolCallId,
      name: tool.name,
      input: params,
      parse: (input) => validated(tool, toolCallId, tool.prepareArguments ? tool.prepareArguments(input) : input),
      signal,
      run: async (call, toolSignal, isChanged) => {
        const input: unknown = isChanged ? validated(tool, toolCallId, call.input) : params;
        const value = (await tool.execute(toolCallId, input, toolSignal, onUpdate)) as AgentToolResult<unknown>;
        ({ terminate } = value);
        const output = outputOf({ content: value.content ?? [], isError: false });
        return { outcome: { status: 'ok', output }, value };
      },
    });
    if (terminate === true) onTerminate();
    return returned ? returned.value : resultOf(outcome, terminate);
  },
});

/** Validates input that an operator changed, as pi validates input of the model. */
const validated = (tool: PiTool, id: string, input: unknown): unknown => {
  try {
    return validateToolArguments(tool, {
      type: 'toolCall',
      id,
      name: tool.name,
      arguments: input as ToolCall['arguments'],
    });
  } catch (error) {
    throw new TurnError(
      'invalid-input',
      `An operator changed the input of the tool ${JSON.stringify(tool.name)} to one that its schema rejects: ${(error as Error).message}`,
      { cause: error },
    );
  }
};

/** Converts the result of a call that did not run, or that an operator changed. Tools of pi fail by throwing. */
const resultOf = ({ output }: ToolOutcome, terminate: boolean | undefined): AgentToolResult<unknown> => {
  const content = resultContent(output);
  if (isErrorOutput(output)) {
    throw new ToolCallError(content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'));
  }
  return { content, details: undefined, ...(terminate !== undefined && { terminate }) };
};
