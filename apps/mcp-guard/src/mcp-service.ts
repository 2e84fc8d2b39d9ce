import { packageVersion } from '@h/files';
import type { ApprovalDecision } from '@h/turn';
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  McpServer,
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type McpRequestContext,
  type ServerContext,
} from '@modelcontextprotocol/server';
import pTimeout from 'p-timeout';
import type { ApprovalPage } from './approval-page.js';
import { callProgress, type CallProgress } from './call-progress.js';
import { errorResult } from './call-result.js';
import type { AnswerCall, DirectCall } from './call-shortcut.js';
import { traceContextIn } from './call-traces.js';
import type { Guard } from './guard.js';
import { HeldCall, HeldCalls } from './held-calls.js';
import { passedCapabilities, passThrough } from './pass-through.js';
import { decisionIn, questionForm, type Question } from './question.js';

type Envelope = Readonly<Record<string, unknown>>;

type Connection = McpServer['server'];

type Elicit = ServerContext['mcpReq']['elicitInput'];

const notWaiting = 'The call is not waiting for an answer: it has expired or was changed.';

/** How long a client waits for the capabilities of a server that is not connected yet. Its tools may appear later. */
const maxWaitMs = 3_000;

/** The key of the question in the requests for input. */
const questionKey = 'approval';

/** Serves a guard to MCP clients, in any version of the protocol. */
export class McpService {
  readonly #guard: Guard;
  readonly #page: ApprovalPage | undefined;
  readonly #approvalTimeoutMs: number;
  readonly #held = new HeldCalls();
  readonly #servers = new Set<Connection>();
  #shortcut: AnswerCall | undefined;

  constructor(guard: Guard, page: ApprovalPage | undefined, approvalTimeoutMs: number) {
    this.#guard = guard;
    this.#page = page;
    this.#approvalTimeoutMs = approvalTimeoutMs;
  }

  /** Creates the server of a connection, or of a request over HTTP. */
  async create({ era }: Pick<McpRequestContext, 'era'>): Promise<McpServer> {
    await pTimeout(this.#guard.connect(), { milliseconds: maxWaitMs, fallback: () => undefined });
    const sole = this.#guard.soleServer;
    const passed = sole === undefined ? {} : passedCapabilities(sole);
    const mcp = new McpServer(
      { name: 'mcp-guard', version: packageVersion(import.meta.url) },
      { capabilities: { ...passed, tools: { listChanged: true } } },
    );
    const { server } = mcp;
    server.setRequestHandler('tools/list', async () => {
      const tools = [...(await this.#guard.tools())];
      return era === 'modern' ? { tools, cacheScope: this.#guard.cacheScope } : { tools };
    });
    server.setRequestHandler('tools/call', (request, context) => {
      if (era === 'modern') return this.#callHeld(request, context);
      // oxlint-disable-next-line typescript/no-deprecated -- the only way to ask an earlier client
      this.#shortcut = (call) => this.#callDirectly(call, server, server.elicitInput.bind(server));
      // oxlint-disable-next-line typescript/no-deprecated -- as above, on the stream of this request
      return this.#callDirectly(directCall(request, context), server, context.mcpReq.elicitInput);
    });
    if (sole !== undefined) passThrough(mcp, passed, sole, (value) => this.#guard.redact(value));
    this.#servers.add(server);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the server of the SDK has no event listeners
    server.onclose = () => this.#servers.delete(server);
    return mcp;
  }

  /** Answers calls without the server of the SDK, once a client of an earlier version has made one. */
  get shortcut(): AnswerCall | undefined {
    return this.#shortcut;
  }

  /** Notifies the clients with an open connection that the tools have changed. */
  notifyToolsChanged(): void {
    for (const server of this.#servers) {
      if (server.transport !== undefined) server.sendToolListChanged().catch(() => undefined);
    }
  }

  close(): void {
    this.#held.close();
  }

  /** Since 2026-07-28 a question is the result of a call, which the client repeats with the answer. */
  async #callHeld(request: CallToolRequest, context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
    const { name, arguments: input = {} } = request.params;
    const { mcpReq } = context;
    const canAsk = hasForms((mcpReq.envelope as Envelope | undefined)?.[CLIENT_CAPABILITIES_META_KEY]);
    const key = mcpReq.requestState();
    let call: HeldCall | undefined;
    if (key === undefined) {
      call = new HeldCall((signal, ask) =>
        this.#guard.call({
          name,
          input,
          signal,
          approve: (question, withdrawn) => (canAsk ? ask(question) : this.#askOnPage(question, withdrawn)),
          progress: this.#progressOf(directCall(request, context)),
          trace: traceContextIn(mcpReq._meta),
        }),
      );
    } else {
      call = typeof key === 'string' ? this.#held.take(key, name, input) : undefined;
      if (call === undefined) return errorResult(notWaiting);
      call.decide(decisionIn(mcpReq.inputResponses?.[questionKey]));
    }
    const news = await call.next(mcpReq.signal);
    if (news.type === 'result') return news.result;
    return inputRequired({
      inputRequests: { [questionKey]: inputRequired.elicit(questionForm(news.question)) },
      requestState: this.#held.hold(call, name, input),
    });
  }

  /** Before 2026-07-28 the server sends a question during the call. */
  #callDirectly(call: DirectCall, server: Connection, elicit: Elicit): Promise<CallToolResult> {
    const { name, input, meta, signal } = call;
    // oxlint-disable-next-line typescript/no-deprecated -- the only source of the capabilities of an earlier client
    const canAsk = hasForms(server.getClientCapabilities());
    const ask = async (question: Question, withdrawn: AbortSignal): Promise<ApprovalDecision> => {
      const timeout = this.#approvalTimeoutMs;
      return decisionIn(await elicit({ mode: 'form', ...questionForm(question) }, { signal: withdrawn, timeout }));
    };
    const approve = (question: Question, withdrawn: AbortSignal): Promise<ApprovalDecision> =>
      canAsk ? ask(question, withdrawn) : this.#askOnPage(question, withdrawn);
    const trace = traceContextIn(meta);
    return this.#guard.call({ name, input, signal, approve, progress: this.#progressOf(call), trace });
  }

  #progressOf({ meta, notify }: DirectCall): CallProgress | undefined {
    return callProgress(meta, notify, (progress) => this.#guard.redact(progress));
  }

  async #askOnPage(question: Question, signal: AbortSignal): Promise<ApprovalDecision> {
    if (this.#page !== undefined) return this.#page.ask(question, signal);
    return { decision: 'deny', reason: `${question.reason} The client cannot ask its user, and the page is off.` };
  }
}

/** Whether a client can show forms to its user. Without further details, it can. */
const hasForms = (capabilities: unknown): boolean => {
  const { elicitation } = (capabilities ?? {}) as { readonly elicitation?: Readonly<Record<string, unknown>> };
  return elicitation !== undefined && (elicitation['form'] !== undefined || Object.keys(elicitation).length === 0);
};

const directCall = ({ params }: CallToolRequest, { mcpReq }: ServerContext): DirectCall => ({
  name: params.name,
  input: params.arguments ?? {},
  meta: mcpReq._meta,
  signal: mcpReq.signal,
  notify: mcpReq.notify,
});
