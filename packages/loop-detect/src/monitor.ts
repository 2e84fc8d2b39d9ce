import type { ToolEffect } from '@h/turn';
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

/** A call and what its name and input tell. */
export interface DescribedCall {
  readonly call: LoopCall;
  readonly key: string;
  readonly tool: string;
  readonly isShell: boolean;
  readonly isPoll: boolean;
  readonly isExempt: boolean;
  /** What the options say of its effect. */
  readonly effect: ToolEffect | undefined;
}

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

  /** What there is to know of a call before it has run. */
  describe(call: LoopCall): DescribedCall {
    const own = Object.hasOwn(this.#tools, call.name) ? this.#tools[call.name] : undefined;
    const line = shellLineOf(call.name, call.input);
    return {
      call,
      key: keyOf(call, own === false ? undefined : own?.inputOf),
      tool: call.name,
      isShell: line !== undefined,
      isPoll: (own === false ? undefined : own?.poll) ?? isKnownPoll(call),
      isExempt: own === false,
      effect: own === false ? undefined : own?.effect,
    };
  }

  /** What is to be made of this call before it runs. It changes nothing: asking twice is as good as asking once. */
  judge(call: DescribedCall): LoopVerdict {
    const found = this.#find(call);
    return found.level === 'block' && this.#strikes.isOut(found.key) ? { ...found, level: 'break' } : found;
  }

  /** Learns how a call ended. @returns what is to be made of it */
  learn(call: DescribedCall, status: LoopOutcome['status'], fingerprint: Fingerprint): LoopVerdict {
    if (neutralStatuses.has(status)) return fine(call.key);
    if (status === 'denied') this.#strike(call);
    const sighting = this.#see(call, status, fingerprint);
    if (sighting.isNews) {
      this.#progress.news += 1;
      if (writes(call.effect === undefined ? call.call : { ...call.call, effect: call.effect })) {
        this.#progress.writes += 1;
      }
    }
    const { isSame, isDenied, isUnknownTool, isPoll, tool, failure } = sighting;
    const isIdle = isDenied || isUnknownTool || (isSame && !isPoll) || this.#churn.isKnown(tool, failure);
    this.#doomLoop.learn(call.key);
    const found = [
      this.#breaker.learn(sighting, isIdle),
      this.#unknownTools.learn(sighting),
      this.#cycles.learn(sighting),
      this.#repeats.learn(sighting),
      this.#churn.learn(sighting),
    ];
    return call.isExempt ? fine(call.key) : worstOf(found, fine(call.key));
  }

  /** The model has lost what it knew: asking again is no sign of a loop. */
  forgive(): void {
    this.#progress.news += 1;
    this.#breaker.reset();
  }

  reset(): void {
    for (const detector of [
      this.#repeats,
      this.#cycles,
      this.#churn,
      this.#unknownTools,
      this.#breaker,
      this.#doomLoop,
      this.#strikes,
    ]) {
      detector.reset();
    }
  }

  #find({ key, tool, isPoll, isShell, isExempt }: DescribedCall): LoopVerdict {
    if (isExempt) return fine(key);
    const found = [
      this.#unknownTools.judge(tool),
      this.#doomLoop.judge(key, tool),
      this.#cycles.judge(key, tool),
      this.#repeats.judge(key, tool, isPoll),
      this.#churn.judge(tool, isShell),
    ];
    return worstOf(found, fine(key));
  }

  /** A call that was refused because of a loop is a strike. */
  #strike(call: DescribedCall): void {
    const found = this.#find(call);
    if (found.level === 'block') this.#strikes.add(found.key);
  }

  #see(
    { key, tool, isShell, isPoll }: DescribedCall,
    status: LoopOutcome['status'],
    fingerprint: Fingerprint,
  ): Sighting {
    const before = this.#repeats.lastOutcome(key);
    const isDenied = status === 'denied';
    // A call that was refused has nothing new to say.
    const outcome = isDenied ? (before ?? 'denied') : fingerprint.outcome;
    const isSame = before === outcome;
    const isSuccess = successStatuses.has(status);
    const isUnknownTool = status === 'unknown-tool';
    return {
      key,
      tool,
      isShell,
      isPoll,
      outcome,
      failure: fingerprint.failure,
      isUnknownTool,
      isDenied,
      isSuccess,
      isNews: isSuccess && !isSame,
      isSame,
    };
  }
}
