import { textOf, type Agent, type TurnEvent } from '@h/turn';

/** Delivers each line of the user to the running turn at its next step, or to the next turn. */
export class Steering {
  readonly #agent: Pick<Agent, 'steer'>;
  #lines: string[] = [];
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
    if (event.type === 'session.loaded') {
      this.#session = event.session;
      this.#offer();
    } else if (event.type === 'turn.end') {
      this.#session = undefined;
      this.#lines = [...(event.undelivered ?? []).map(textOf), ...this.#lines];
    }
  }

  #offer(): void {
    for (let [line] = this.#lines; line !== undefined && this.#session !== undefined; [line] = this.#lines) {
      if (!this.#agent.steer(this.#session, line)) return;
      this.#lines.shift();
    }
  }
}
