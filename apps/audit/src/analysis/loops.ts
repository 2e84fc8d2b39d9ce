import { createLoopDetector, type LoopCall, type LoopDetector } from '@h/loop-detect';
import type { CostOf } from '@h/prices';
import type { AuditRecord } from '../read/record.js';
import { FindingList } from './finding.js';
import { noSpending, spend } from './usage.js';

/** A loop that `@h/loop-detect` would have stopped. */
export interface LoopFinding {
  readonly tool: string;
  readonly detector: string;
  /** Number of the call in the session, from 1. */
  readonly call: number;
  readonly message: string;
}

/** Results without their call are forgotten beyond this number. */
const maxOpenCalls = 1000;

/**
 * Finds loops: the first call of each that would have been denied, and the calls of the loop after it, until the next
 * message of the user.
 */
export class LoopAnalysis {
  readonly loops = new FindingList<LoopFinding>();
  /** Model calls that repeated a loop after that call. */
  readonly wasted = noSpending();
  /** Calls that repeated a loop. */
  repeats = 0;
  /** All calls after a loop, also those that did something else. */
  callsAfter = 0;
  readonly #costOf: CostOf;
  readonly #open = new Map<string, LoopCall>();
  #detector: LoopDetector = createLoopDetector();
  #calls = 0;
  #isStopped = false;
  /** Whether a call of the latest model call repeated a loop. */
  #hasRepeated = false;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  take(record: AuditRecord): void {
    switch (record.type) {
      case 'message':
        if (record.role !== 'user') return;
        this.#detector = createLoopDetector();
        this.#isStopped = false;
        return;
      case 'call':
        this.#judge(record);
        return;
      case 'result': {
        const call = this.#open.get(record.id);
        this.#open.delete(record.id);
        if (call) this.#detector.record(call, { status: record.isError ? 'failed' : 'ok', output: record.text });
        return;
      }
      case 'request':
        if (this.#hasRepeated) {
          spend(this.wasted, record.usage, record.usage && this.#costOf(record.usage, record.model));
        }
        this.#hasRepeated = false;
        return;
      default:
    }
  }

  #judge({ id, name, input }: Extract<AuditRecord, { type: 'call' }>): void {
    this.#calls += 1;
    const call = { id, name, input };
    const { level, detector, message } = this.#detector.judge(call);
    if (this.#open.size >= maxOpenCalls) this.#open.clear();
    this.#open.set(id, call);
    if (this.#isStopped) this.callsAfter += 1;
    if (level !== 'block' && level !== 'break') return;
    if (this.#isStopped) {
      this.repeats += 1;
      this.#hasRepeated = true;
      return;
    }
    this.#isStopped = true;
    this.loops.add({ tool: name, detector: detector ?? 'unknown', call: this.#calls, message });
  }
}
