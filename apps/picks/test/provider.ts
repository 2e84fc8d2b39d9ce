import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import type { Run } from './programs.js';

/** A scripted provider on loopback, for one program at a time. */
export class Provider {
  readonly #mock = new LLMock({ port: 0 });
  #answers: FixtureFileResponse[] = [];

  async start(): Promise<void> {
    this.#mock.on({ predicate: () => true }, () => (this.#answers.shift() ?? { content: 'Done.' }) as FixtureResponse);
    await this.#mock.start();
  }

  stop(): Promise<void> {
    return this.#mock.stop();
  }

  /** The environment of a program. */
  get env() {
    return {
      OPENAI_BASE_URL: `${this.#mock.url}/v1`,
      OPENAI_API_KEY: 'sk-first',
      OPENAI_RESERVE_KEY: 'sk-second',
    };
  }

  /** Answers the requests of a program with a script, and returns them with the output of the program. */
  async during(script: readonly FixtureFileResponse[], program: () => Promise<string>): Promise<Run> {
    this.#answers = [...script];
    const before = this.#mock.getRequests().length;
    const output = await program();
    const requests = this.#mock.getRequests().slice(before);
    return {
      output,
      requests: requests.map(({ body }) => ({
        model: String((body as { readonly model?: string }).model),
        body: JSON.stringify(body),
      })),
    };
  }
}
