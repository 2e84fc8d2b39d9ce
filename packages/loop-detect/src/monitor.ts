import { Breaker } from './breaker.js';
import { neutralStatuses, successStatuses, type LoopCall, type LoopOutcome } from './call.js';
import { Churn } from './churn.js';
import { Cycles } from './cycles.js';
import { DoomLoop } from './doom-loop.js';
import { writes } from './effect.js';
import { keyOf, type Fingerprint } from './fingerprint.js';
import type { LoopOptions } from './options.js';
import { isKnownPoll } from './poll.js';
import { Repeats } from './repeats.js';
import { shellLineOf } from './shell.js';
import type { Progress, Sighting } from './sighting.js';
import { Strikes } from './strikes.js';
import { thresholdsFrom } from './thresholds.js';
import { UnknownTools } from './unknown-tools.js';
import { fine, worstOf, type LoopVerdict } from './verdict.js';

/** All detectors over one run of calls. It remembers a bounded number of calls, and each call takes the same time. */
export class Monitor {
  readonly #progress: Progress = { news: 0, writes: 0, batch: 0 };
  readonly #tools: NonNullable<LoopOptions['tools']>;
  readonly #repeats: Repeats;
  readonly #cycles: Cycles;
  readonly #churn: Churn;
  readonly #unknownTools: UnknownTools;
  readonly #breaker: Breaker;
  readonly #doomLoop: DoomLoop;
  readonly #strikes: Strikes;

  constructor(options: LoopOptions) {
    const thresholds = thresholdsFrom(options);
    this.#tools = options.tools ?? {};
    this.#repeats = new Repeats(this.#progress, thresholds);
    this.#cycles = new Cycles(this.#progress, thresholds);
    this.#churn = new Churn(this.#progress, thresholds);
    this.#unknownTools = new UnknownTools(this.#progress, thresholds);
    this.#breaker = new Breaker(this.#progress, thresholds);
    this.#doomLoop = new DoomLoop(options.doomLoopThreshold ?? Infinity);
    this.#strikes = new Strikes(this.#progress, options.forgiveAfter ?? 5);
  }

  /** The calls from here on come from another answer of the model. */
  beginBatch(): void {
    this.#progress.batch += 1;
  }

  /** What is to be made of this call before it runs. It changes nothing: asking twice is as good as asking once. */
  judge(call: LoopCall): LoopVerdict {
    const key = keyOf(call);
    const found = this.#find(call, key);
    return found.level === 'block' && this.#strikes.isOut(found.key) ? { ...found, level: 'break' } : found;
  }

  /** Learns how a call ended. @returns what is to be made of it */
  learn(call: LoopCall, status: LoopOutcome['status'], fingerprint: Fingerprint): LoopVerdict {
    const key = keyOf(call);
    if (neutralStatuses.has(status)) return fine(key);
    if (status === 'denied') this.#strike(call, key);
    const sighting = this.#see(call, key, status, fingerprint);
    if (sighting.isNews) {
      this.#progress.news += 1;
      if (writes(this.#withEffect(call))) this.#progress.writes += 1;
    }
    const { isSame, isDenied, isUnknownTool, isPoll, tool, failure } = sighting;
    const isIdle = isDenied || isUnknownTool || (isSame && !isPoll) || this.#churn.isKnown(tool, failure);
    this.#doomLoop.learn(key);
    const found = [
      this.#breaker.learn(sighting, isIdle),
      this.#unknownTools.learn(sighting),
      this.#cycles.learn(sighting),
      this.#repeats.learn(sighting),
      this.#churn.learn(sighting),
    ];
    return this.#isExempt(call) ? fine(key) : worstOf(found, fine(key));
  }

  /** The model has lost what it knew: asking again is no sign of a loop. */
  forgive(): void {
    this.#progress.news += 1;
    this.#breaker.reset();
  }

  reset(): void {
    for (const detector of [this.#repeats, this.#cycles, this.#churn, this.#unknownTools, this.#breaker, this.#doomLoop, this.#strikes]) detector.reset();
  }

  #find(call: LoopCall, key: string): LoopVerdict {
    if (this.#isExempt(call)) return fine(key);
    const { name } = call;
    return worstOf(
      [
        this.#unknownTools.judge(name),
        this.#doomLoop.judge(key, name),
        this.#cycles.judge(key, name),
        this.#repeats.judge(key, name, this.#isPoll(call)),
        this.#churn.judge(name, isShell(call)),
      ],
      fine(key),
    );
  }

  /** A call that was refused because of a loop is a strike. */
  #strike(call: LoopCall, key: string): void {
    const found = this.#find(call, key);
    if (found.level === 'block') this.#strikes.add(found.key);
  }

  #see(call: LoopCall, key: string, status: LoopOutcome['status'], fingerprint: Fingerprint): Sighting {
    const before = this.#repeats.lastOutcome(key);
    const isDenied = status === 'denied';
    const outcome = isDenied ? (before ?? 'denied') : fingerprint.outcome;
    const isSame = before === outcome;
    const isSuccess = successStatuses.has(status);
    return {
      key,
      tool: call.name,
      isShell: isShell(call),
      isPoll: this.#isPoll(call),
      outcome,
      failure: fingerprint.failure,
      isUnknownTool: status === 'unknown-tool',
      isDenied,
      isSuccess,
      isNews: isSuccess && !isSame,
      isSame,
    };
  }

  #isPoll(call: LoopCall): boolean {
    const own = this.#ownOf(call);
    return (own === false ? undefined : own?.poll) ?? isKnownPoll(this.#withEffect(call));
  }

  #withEffect(call: LoopCall): LoopCall {
    const own = this.#ownOf(call);
    return own === false || own?.effect === undefined ? call : { ...call, effect: own.effect };
  }

  #isExempt(call: LoopCall): boolean {
    return this.#ownOf(call) === false;
  }

  #ownOf({ name }: LoopCall): NonNullable<LoopOptions['tools']>[string] | undefined {
    return Object.hasOwn(this.#tools, name) ? this.#tools[name] : undefined;
  }
}

const isShell = ({ name, input }: LoopCall): boolean => shellLineOf(name, input) !== undefined;
