import type { DescribedCall } from '../reading/call.js';
import { canonicalText, hashOf } from '../reading/canonical.js';
import type { LimitsOf } from '../options.js';
import type { Fingerprint } from '../reading/outcome.js';
import { scan } from '../reading/scan.js';
import { messages, type LoopVerdict } from '../verdict.js';

/** Maximum number of calls from one creation to the next. */
const longestRound = 6;

/** A call since something was made. Its outcome is only read if the same thing is made again. */
interface Step {
  readonly call: DescribedCall;
  readonly print: Fingerprint;
}

/** What was made, and the calls since then. */
interface Made {
  readonly key: string;
  /** Its outcome names what was made by a new id each time. */
  readonly print: Fingerprint;
  readonly rounds: number;
  readonly steps: readonly Step[];
  /** Hash of the steps of the round before. */
  readonly previous: number | undefined;
}

/**
 * Detects that the same thing is made, removed and made again, with a new id in each round. Only ids differ: what is
 * made is requested with the same input, and other calls have the same outcomes.
 */
export class Remakes {
  readonly #limits: LimitsOf;
  #made: Made | undefined;

  constructor(limits: LimitsOf, made?: Made) {
    this.#limits = limits;
    this.#made = made;
  }

  fork(): Remakes {
    return new Remakes(this.#limits, this.#made);
  }

  judge({ key, tool }: DescribedCall): LoopVerdict | undefined {
    const made = this.#made;
    if (made?.key !== key || made.rounds + 1 < this.#limits('cycle', tool).block) return undefined;
    return made.previous !== undefined && made.previous === roundOf(made)
      ? verdictOf('block', tool, made, made.rounds)
      : undefined;
  }

  /** @param isKnown whether the same call was recorded before */
  record(call: DescribedCall, print: Fingerprint, isOk: boolean, isKnown: boolean): LoopVerdict | undefined {
    const { key, tool } = call;
    const made = this.#made;
    if (made?.key === key && isOk) {
      const round = roundOf(made);
      const isAgain = round !== undefined && made.previous === round && made.print.shape === print.shape;
      const rounds = isAgain ? made.rounds + 1 : 2;
      this.#made = { key, print, rounds, steps: [], previous: round };
      const isWarning = isAgain && rounds >= this.#limits('cycle', tool).warn;
      return isWarning ? verdictOf('warn', tool, made, rounds) : undefined;
    }
    if (made !== undefined && made.steps.length + 1 < longestRound) {
      this.#made = { ...made, steps: [...made.steps, { call, print }] };
      return undefined;
    }
    const isMaking = isOk && isKnown && call.writes() && !call.removes;
    this.#made = isMaking ? { key, print, rounds: 2, steps: [], previous: undefined } : undefined;
    return undefined;
  }

  reset(): void {
    this.#made = undefined;
  }
}

/** Returns a hash of what is the same in each round; `undefined` if nothing was removed. */
const roundOf = ({ steps }: Made): number | undefined =>
  steps.some(({ call }) => call.removes) ? hashOf(steps.map(stepOf).join('\n')) : undefined;

/** Returns what is the same in each round: of a lookup or a removal of the thing itself, all but its id. */
const stepOf = ({ call, print: { shape, level } }: Step): string => {
  const input = canonicalText(call.call.input);
  const isAboutIt = call.removes || (call.isLookup && /\d/.test(input));
  const asked = isAboutIt ? `${call.tool} ${scan(input).shape}` : call.key;
  return `${asked} ${shape} ${call.removes ? '' : (level ?? '')}`;
};

const verdictOf = (level: 'warn' | 'block', tool: string, { key, steps }: Made, rounds: number): LoopVerdict => ({
  level,
  detector: 'cycle',
  message: messages.cycle([tool, ...steps.map(({ call }) => call.tool)], rounds),
  key: `cycle:${key}`,
});
