import { query, type Options, type SDKMessage, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

/** An answer of the model, or a function that makes it from the request. */
export type Answer = FixtureFileResponse | ((messages: readonly WireMessage[]) => FixtureFileResponse | undefined);

/** The transcript of one run of Claude Code. */
export interface Run {
  /** The result of each tool call as the model read it, without reminders of Claude Code. */
  readonly results: Readonly<Record<string, string>>;
  /** Number of model calls. */
  readonly requests: number;
  /** All text of the last model request. */
  readonly lastRequest: string;
  /** The text of the last message of Claude Code. */
  readonly text: string;
  readonly messages: readonly SDKMessage[];
  /** What `query()` threw. */
  readonly error: unknown;
}

/** Claude Code in a temporary home, with a scripted model. */
export class Claude {
  readonly folder = mkdtempSync(join(tmpdir(), 'h-claude-'));
  readonly #mock = new LLMock({ port: 0 });
  readonly #requests: (readonly WireMessage[])[] = [];
  #script: Answer[] = [];

  static async start(): Promise<Claude> {
    const claude = new Claude();
    claude.#mock.on({ predicate: () => true }, (request) => claude.#answer(request.messages) as FixtureResponse);
    await claude.#mock.start();
    return claude;
  }

  async stop(): Promise<void> {
    await this.#mock.stop();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Runs a prompt. Without more answers, the model says "Done.". */
  async run(
    script: readonly Answer[],
    options: Options,
    {
      prompt = 'Do it.',
      onMessage,
    }: {
      readonly prompt?: string | AsyncIterable<SDKUserMessage>;
      readonly onMessage?: (message: SDKMessage, running: ReturnType<typeof query>) => unknown;
    } = {},
  ): Promise<Run> {
    this.#script = [...script];
    const before = this.#requests.length;
    const running = query({ prompt, options: { ...this.#options(), ...options } });
    const messages: SDKMessage[] = [];
    let error: unknown;
    try {
      for await (const message of running) {
        messages.push(message);
        await onMessage?.(message, running);
      }
    } catch (thrown) {
      error = thrown;
    }
    const requests = this.#requests.slice(before);
    const result = messages.findLast((message) => message.type === 'result');
    return {
      results: Object.fromEntries(requests.flatMap((request) => request.flatMap(resultIn))),
      requests: requests.length,
      lastRequest: JSON.stringify(requests.at(-1)),
      text: result?.type === 'result' && result.subtype === 'success' ? result.result : '',
      messages,
      error,
    };
  }

  #options(): Options {
    return {
      cwd: this.folder,
      env: { ...claudeEnv(this.folder), ANTHROPIC_BASE_URL: this.#mock.url, ANTHROPIC_API_KEY: 'test' },
      model: 'claude-sonnet-4-5',
      settingSources: [],
      tools: ['Bash', 'Read', 'Write', 'Agent'],
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
    };
  }

  #answer(messages: readonly WireMessage[]): FixtureFileResponse {
    this.#requests.push(messages);
    const next = this.#script[0];
    const answer = typeof next === 'function' ? next(messages) : next;
    if (answer !== undefined) this.#script.shift();
    return answer ?? { content: 'Done.' };
  }
}

/** The environment of a Claude Code whose home is in this folder. */
export const claudeEnv = (folder: string) => ({
  PATH: process.env['PATH'],
  HOME: join(folder, 'home'),
  CLAUDE_CONFIG_DIR: join(folder, 'home'),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  IS_SANDBOX: '1',
});

/** An answer with calls of tools: `[id, tool, input]`. */
export const calls = (...list: readonly (readonly [string, string, object])[]): FixtureFileResponse => ({
  toolCalls: list.map(([id, name, input]) => ({ id, name, arguments: JSON.stringify(input) })),
});

export const bash = (id: string, command: string) => [id, 'Bash', { command, description: 'A command.' }] as const;

const resultIn = ({ role, content, tool_call_id: id }: WireMessage): readonly (readonly [string, string])[] =>
  role === 'tool' && id !== undefined
    ? [[id, (typeof content === 'string' ? content : JSON.stringify(content)).replace(tokensLeft, '')]]
    : [];

const tokensLeft = /\s*<system-reminder>\s*<total_tokens>[^<]*<\/total_tokens>\s*<\/system-reminder>/;

/** Whether Claude Code can run here: its binary is an optional dependency, and on Windows it requires Git Bash. */
export const canRun = ((): boolean => {
  if (process.platform === 'win32') return false;
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('@anthropic-ai/claude-agent-sdk'));
  return ['', '-musl'].some((libc) => {
    try {
      return resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}${libc}/package.json`) !== '';
    } catch {
      return false;
    }
  });
})();
