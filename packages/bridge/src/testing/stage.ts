import type { HostInput, HostReply, HostSetup, HostUnderTest, RunningHost, SuiteTool } from './host-under-test.js';
import type { Answer, ModelServer } from './model-server.js';
import { Spy } from './operators.js';
import { secret, type Effects } from './packages.js';

const firstKey = 'key-first';
/** The keys of the model. */
export const keys = [
  { id: 'first', key: firstKey },
  { id: 'second', key: 'key-second' },
];
const longText = 'A line of a long file.\n'.repeat(350);
const hugeText = 'x'.repeat(2_000_000);

/** An answer with calls of these tools. */
export const calls = (...names: readonly string[]): Answer => ({
  calls: names.map((name) => ({ name, input: { path: 'a.txt' } })),
});

/** An answer with this text. */
export const text = (value: string): Answer => ({ text: value });

/** What a test decides about an agent. */
export type StageSetup = Omit<HostSetup, 'url' | 'key' | 'keyOf' | 'tools' | 'storage'>;

/** One agent with its tools, and what they did. */
export class Stage {
  readonly server: ModelServer;
  readonly spy = new Spy();
  /** Calls that ran, as `name input`. */
  readonly ran: string[] = [];
  /** Begin and end of calls. */
  readonly log: string[] = [];
  toolSignal: AbortSignal | undefined;
  onWait: () => void = () => undefined;
  /** What the tool `delegate` does. */
  onDelegate: (input: string) => Promise<string> = (input) => Promise.resolve(input);
  /** What the host stores outside of its process. */
  readonly storage = new Map<string, unknown>();
  #host: RunningHost | undefined;
  readonly #defaults: Pick<HostInput, 'isStreamed'>;

  constructor(server: ModelServer, isStreamed: boolean) {
    this.server = server;
    this.#defaults = { isStreamed };
  }

  /** Starts an agent, which continues the sessions of an earlier one if the host stores them. */
  async start(under: HostUnderTest, setup: StageSetup): Promise<void> {
    await this.close();
    this.#host = await under.start({
      ...setup,
      storage: this.storage,
      operators: setup.operators && [this.spy.operator, ...setup.operators],
      url: this.server.url,
      key: firstKey,
      keyOf: (credential) => keys.find(({ id }) => id === credential)?.key ?? firstKey,
      tools: this.#tools,
    });
  }

  async run(input: string, more: Partial<HostInput> = {}): Promise<HostReply> {
    return this.#running.run(this.#inputOf(input, more));
  }

  /** Answers the approval for which the last run paused. */
  async answer(isApproved: boolean): Promise<HostReply> {
    const { answer } = this.#running;
    if (!answer) throw new Error('A host that pauses needs answer().');
    return answer(isApproved, this.#inputOf(''));
  }

  /** Continues the last run, which failed. */
  async resume(): Promise<HostReply> {
    const { resume } = this.#running;
    if (!resume) throw new Error('A host that resumes failed runs needs resume().');
    return resume(this.#inputOf(''));
  }

  /** Runs another agent within a tool call of the session. */
  async nest(input: string): Promise<HostReply> {
    const { nest } = this.#running;
    if (!nest) throw new Error('A host that nests needs nest().');
    return nest(this.#inputOf(input));
  }

  async close(): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await host?.close?.();
  }

  get #running(): RunningHost {
    if (!this.#host) throw new Error('The host has not started.');
    return this.#host;
  }

  #inputOf(input: string, more: Partial<HostInput> = {}): HostInput {
    return {
      text: input,
      session: 'alice',
      signal: undefined,
      onText: () => undefined,
      ...this.#defaults,
      ...more,
    };
  }

  get bodies(): readonly string[] {
    return this.server.requests.map(({ body }) => body);
  }

  get effects(): Effects {
    const used = this.server.requests.map(({ key }) => key);
    return { bodies: this.bodies, keys: used, ran: this.ran, outcomes: this.spy.outcomes };
  }

  readonly #tools: readonly SuiteTool[] = [
    this.#tool('read', async (input) => {
      if (input === 'huge') return hugeText;
      if (input.startsWith('long')) return `${input} ${longText}`;
      return input === 'secret' ? `The key is ${secret}.` : `text of ${input}`;
    }),
    this.#tool('list', async () => this.#nap('a.txt b.txt')),
    this.#tool('write', async () => this.#nap('written')),
    this.#tool('fail', (input) =>
      Promise.reject(new RangeError(input === 'secret' ? `${longText} The key is ${secret}.` : 'The disk is full.')),
    ),
    this.#tool('delegate', (input) => this.onDelegate(input)),
    this.#tool('bash', async () => 'ok', 'command'),
    this.#tool('wait', (_input, signal) => {
      this.toolSignal = signal;
      return new Promise((_resolve, reject) => {
        const abort = (): void => reject(signal?.reason as Error);
        if (signal?.aborted) abort();
        signal?.addEventListener('abort', abort, { once: true });
        this.onWait();
      });
    }),
  ];

  #tool(
    name: string,
    run: (input: string, signal: AbortSignal | undefined) => Promise<string>,
    parameter = 'path',
  ): SuiteTool {
    return {
      name,
      description: `Runs ${name}.`,
      parameter,
      run: async (input, signal) => {
        const value = String((input as Readonly<Record<string, unknown>>)[parameter]);
        this.ran.push(`${name} ${value}`);
        this.log.push(`${name} begins`);
        try {
          return await run(value, signal);
        } finally {
          this.log.push(`${name} ends`);
        }
      },
    };
  }

  /** Lets other calls begin. */
  async #nap(value: string): Promise<string> {
    await new Promise((resolve) => void setImmediate(resolve));
    return value;
  }
}
