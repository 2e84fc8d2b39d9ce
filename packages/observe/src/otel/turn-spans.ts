import {
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type {
  Beginning,
  ErrorSummary,
  ModelCalled,
  Noticed,
  Observation,
  RunEnded,
  ToolCalled,
} from '../observation.js';
import { known, message, modelAttributes, noticeAttributes, runAttributes, toolAttributes } from './attributes.js';

/** An open span, and the context in which its work runs. */
interface Open {
  readonly span: Span;
  readonly context: Context;
}

/** The spans of one turn. */
export interface TurnSpans {
  begin(beginning: Beginning): void;
  write(observation: Observation): void;
  /** Ends all open spans. */
  end(): void;
  /** The context of the running model call. */
  readonly modelContext: Context | undefined;
  /** Returns the context of a tool call, or that of the step. */
  toolContext(callId?: string): Context | undefined;
}

/** @param parent the context in which the caller subscribed to the turn */
export const createTurnSpans = (tracer: Tracer, parent: Context): TurnSpans => {
  let run: Open | undefined;
  let step: Open | undefined;
  let model: Open | undefined;
  const tools = new Map<string, Open>();

  const open = (name: string, kind: SpanKind, within: Context, attributes: Attributes): Open => {
    const span = tracer.startSpan(name, { kind, attributes }, within);
    return { span, context: trace.setSpan(within, span) };
  };
  const within = (): Context => (step ?? run)?.context ?? parent;
  const close = (opened: Open | undefined, attributes: Attributes, error?: ErrorSummary): void => {
    if (opened === undefined) return;
    opened.span.setAttributes(attributes);
    if (error !== undefined) opened.span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    opened.span.end();
  };
  const openTool = (callId: string, tool: string): Open =>
    open(`execute_tool ${tool}`, SpanKind.INTERNAL, within(), {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
    });
  const closeTool = (call: ToolCalled): void => {
    const opened = tools.get(call.callId) ?? openTool(call.callId, call.tool);
    tools.delete(call.callId);
    close(
      opened,
      toolAttributes(call),
      call.error ?? (call.level === 'warn' ? { name: call.status, message: `The call is ${call.status}.` } : undefined),
    );
  };
  const closeModel = (call: ModelCalled): void => {
    close(model, modelAttributes(call), call.error);
    model = undefined;
  };
  const closeStep = (attributes: Attributes): void => {
    close(step, attributes);
    step = undefined;
  };
  const closeAll = (): void => {
    const cut = { 'h.cut': true };
    close(model, cut);
    for (const tool of tools.values()) close(tool, cut);
    model = undefined;
    tools.clear();
    closeStep({});
  };
  const closeRun = (ended: RunEnded): void => {
    closeAll();
    close(
      run,
      runAttributes(ended),
      ended.type === 'run.error'
        ? (ended.error ?? { name: 'error', message: ended.reason ?? ended.outcome })
        : undefined,
    );
    run = undefined;
  };

  return {
    begin: (beginning) => {
      switch (beginning.kind) {
        case 'run': {
          const { harnessId, sessionId, input, runId } = beginning;
          run = open(
            harnessId === undefined ? 'invoke_agent' : `invoke_agent ${harnessId}`,
            SpanKind.INTERNAL,
            parent,
            known({
              'gen_ai.operation.name': 'invoke_agent',
              'gen_ai.agent.name': harnessId,
              'gen_ai.conversation.id': sessionId,
              'gen_ai.input.messages': input === undefined ? undefined : message('user', input),
              'h.run.id': runId,
              'h.parent.run.id': beginning.parentRunId,
              'h.session.key': beginning.sessionKey,
              'h.turn.trigger': beginning.trigger,
              'h.channel': beginning.channel,
            }),
          );
          break;
        }
        case 'step':
          closeStep({});
          step = open('step', SpanKind.INTERNAL, run?.context ?? parent, { 'h.step': beginning.step });
          break;
        case 'model': {
          const { provider, model: name, attempt } = beginning;
          close(model, { 'h.cut': true });
          model = open(
            name === undefined ? 'chat' : `chat ${name}`,
            SpanKind.CLIENT,
            within(),
            known({
              'gen_ai.operation.name': 'chat',
              'gen_ai.provider.name': provider,
              'gen_ai.request.model': name,
              'gen_ai.request.max_tokens': beginning.maxOutputTokens,
              'gen_ai.request.temperature': beginning.temperature,
              'gen_ai.request.top_p': beginning.topP,
              'h.step': beginning.step,
              'h.attempt': attempt,
            }),
          );
          break;
        }
        case 'tool':
          tools.set(beginning.callId, openTool(beginning.callId, beginning.tool));
          break;
      }
    },
    write: (observation) => {
      if ('data' in observation) addEvent(step ?? run, observation);
      else if (observation.type === 'model.call') closeModel(observation);
      else if (observation.type === 'tool.call') closeTool(observation);
      else if (observation.type === 'step.done') {
        closeStep(
          known({
            'h.attempts': observation.attempts,
            'h.tool_calls': observation.toolCalls,
            'h.cost.usd': observation.cost,
          }),
        );
      } else if (observation.type !== 'run.started') closeRun(observation);
    },
    end: () => {
      closeAll();
      close(run, {});
      run = undefined;
    },
    get modelContext() {
      return model?.context ?? (step ?? run)?.context;
    },
    toolContext: (callId) => (callId === undefined ? undefined : tools.get(callId)?.context) ?? (step ?? run)?.context,
  };
};

const addEvent = (opened: Open | undefined, notice: Noticed): void => {
  opened?.span.addEvent(notice.type, { ...noticeAttributes(notice), 'h.level': notice.level });
};
