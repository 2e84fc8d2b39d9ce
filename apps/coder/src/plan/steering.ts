import { textOf, type Agent, type TurnEvent } from '@h/turn';

/** Delivers each line of the user to the running turn at its next step, or to the next turn. */
export class Steering {
  readonly #agent: Pick<Agent, 'steer'>;
  #lines: string[] = [];
  #input: readonly string[] = [];
  #session: string | undefined;

  constructor(agent: Pick<Agent, 'steer'>) {
    this.#agent = agent;
  }

  /** Lines that no turn has received. */
  get waiting(): readonly string[] {
    return this.#lines;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#offer();
  }

  /** Must receive all events of the turns. */
  see(event: TurnEvent): void {
    if (event.type === 'turn.start') {
      this.#input = event.input.map(textOf);
    } else if (event.type === 'session.loaded') {
      this.#session = event.session;
      this.#offer();
    } else if (event.type === 'turn.end') {
      this.#session = undefined;
      const undelivered = (event.undelivered ?? []).map(textOf);
      // The next turn has its own input; an undelivered input precedes the lines.
      const isWithInput = this.#input.every((text, index) => undelivered[index] === text);
      this.#lines = [...undelivered.slice(isWithInput ? this.#input.length : 0), ...this.#lines];
    }
  }

  #offer(): void {
    for (let [line] = this.#lines; line !== undefined && this.#session !== undefined; [line] = this.#lines) {
      if (!this.#agent.steer(this.#session, line)) return;
      this.#lines.shift();
    }
  }
}
