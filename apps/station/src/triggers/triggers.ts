import { processState, thisProcess, type ProcessMark } from '@h/process';
import type { JSONValue } from '@h/turn';
import type { TriggerConfig } from '../config/schema.js';
import { render, type RunValues } from '../workflows/values.js';
import { scheduleOf, type Schedule } from './schedule.js';
import type { Tick, TickStore } from './tick-store.js';
import { verifyWebhook, WebhookError, type WebhookRequest } from './webhook.js';

/** What a trigger starts. The same `key` twice has one effect. */
export interface TriggerTargets {
  readonly startWorkflow: (request: {
    readonly tenant: string;
    readonly workflow: string;
    readonly input: Readonly<Record<string, JSONValue>>;
    readonly key: string;
  }) => Promise<unknown>;
  readonly sendMessage: (request: {
    readonly tenant: string;
    readonly agent: string;
    /** The name of the session; the same name is the same session. */
    readonly session: string;
    readonly title: string;
    readonly text: string;
    readonly trigger: TriggerConfig['type'];
    readonly key: string;
  }) => Promise<unknown>;
}

/** Options of {@link startTriggers}. */
export interface TriggersOptions extends TriggerTargets {
  readonly triggers: Readonly<Record<string, TriggerConfig>>;
  readonly store: TickStore;
  /** The environment variables with the secrets of webhooks. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onError?: ((error: unknown, trigger: string) => void) | undefined;
  /** Milliseconds since 1970. @defaultValue the system clock */
  readonly now?: (() => number) | undefined;
}

/** Running triggers. */
export interface Triggers {
  /**
   * Accepts a signed webhook.
   *
   * @returns whether it is new; a repeated delivery has no effect
   * @throws WebhookError
   */
  webhook(trigger: string, request: WebhookRequest): Promise<{ readonly isNew: boolean }>;
  /** Passes the message of a user to the triggers of its tenant. @returns the triggers that it started */
  message(message: {
    readonly tenant: string;
    /** Unique for the tenant. */
    readonly id: string;
    readonly text: string;
  }): Promise<readonly string[]>;
  /** Stops the timers, and waits for effects that have begun. */
  close(): Promise<void>;
}

/** Timers are set for at most this time, so that a changed clock is noticed. */
const maxSleepMs = 60_000;
/** Interval of the search for effects that failed, or whose process died, in milliseconds. */
const retryEveryMs = 30_000;
/** An effect that fails is retried for this time after its tick, in milliseconds. */
const retryForMs = 3_600_000;
/** An effect of a process on another machine that is not stored after this time is repeated, in milliseconds. */
const abandonedMs = 120_000;
/** Claims of a trigger that a search examines. */
const examined = 100;

/**
 * Starts the timers of cron and heartbeat triggers and accepts webhooks and messages. Each tick has one effect over all
 * processes that share the store. The latest tick that passed while no process was running has its effect now if the
 * trigger says `missed: run`. An effect that fails is reported and retried for an hour.
 *
 * @throws Error for an invalid cron expression or time zone
 */
export const startTriggers = async (options: TriggersOptions): Promise<Triggers> => {
  const { triggers, store, environment, onError, now = () => Date.now() } = options;
  const mark = thisProcess();
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();
  /** Ticks whose effects have begun here. */
  const begun = new Set<string>();
  /** Ticks that could not be claimed. The search claims them again. */
  const unclaimed = new Map<string, { readonly at: number; readonly claim: () => Promise<unknown> }>();
  let isClosed = false;

  /** Has the effect of a claimed tick. A failure is reported, and repeated by the next search. */
  const act = async (name: string, trigger: TriggerConfig, tick: Tick): Promise<void> => {
    const key = `trigger:${name}:${tick.key}`;
    if (begun.has(key)) return;
    begun.add(key);
    try {
      await effect(name, trigger, tick, key);
      await store.finish(tick);
    } catch (error) {
      onError?.(error, name);
    } finally {
      begun.delete(key);
    }
  };

  const effect = async (name: string, trigger: TriggerConfig, tick: Tick, key: string): Promise<void> => {
    const at = new Date(tick.at).toISOString();
    const values: RunValues = { ...(JSON.parse(tick.payload) as RunValues), trigger: name, at };
    const text = trigger.input === undefined ? undefined : render(trigger.input, values);
    const { tenant, workflow, agent, session, type } = trigger;
    if (workflow !== undefined) {
      const input = text === undefined ? values : { ...values, text };
      await options.startWorkflow({ tenant, workflow, input, key });
    } else if (agent !== undefined) {
      const title = session ?? `${name} ${at}`;
      await options.sendMessage({
        tenant,
        agent,
        session: session ?? key,
        title,
        text: text ?? '',
        trigger: type,
        key,
      });
    }
  };

  const tracked = <Result>(work: Promise<Result>): Promise<Result> => {
    running.add(work);
    const remove = (): void => void running.delete(work);
    work.then(remove, remove);
    return work;
  };

  /** Claims an event and has its effect. @returns whether this process claimed it */
  const fire = async (
    name: string,
    trigger: TriggerConfig,
    key: string,
    at: number,
    payload: RunValues,
  ): Promise<boolean> => {
    const tick: Tick = { trigger: name, key, at, process: mark, isDone: false, payload: JSON.stringify(payload) };
    if (!(await store.claim(tick))) return false;
    await act(name, trigger, tick);
    return true;
  };

  /** Repeats effects that failed here, and those of killed processes; their keys prevent a second effect. */
  const retry = async (name: string, trigger: TriggerConfig): Promise<void> => {
    for (const tick of await store.latest(name, examined)) {
      if (tick.isDone || isClosed) continue;
      const age = now() - tick.at;
      if (isSameProcess(tick.process, mark)) {
        if (age < retryForMs) await act(name, trigger, tick);
        continue;
      }
      const state = processState(tick.process);
      const isAbandoned = state === 'dead' || (state === 'unknown' && age > abandonedMs);
      if (isAbandoned && (await store.takeOver(tick, mark))) await act(name, trigger, { ...tick, process: mark });
    }
  };

  const schedule = (name: string, trigger: TriggerConfig, ticks: Schedule, from: number): void => {
    const tick = ticks.next(from);
    if (isClosed || tick === undefined) return;
    const delay = Math.min(maxSleepMs, Math.max(0, tick - now()));
    const timer = setTimeout(() => {
      // A clock that was set back has earlier ticks again; claimed ones have no second effect.
      if (now() < tick) return schedule(name, trigger, ticks, Math.min(from, now()));
      const claim = (): Promise<unknown> => fire(name, trigger, String(tick), tick, {});
      tracked(claim()).catch((error: unknown) => {
        unclaimed.set(`${name}:${tick}`, { at: tick, claim });
        onError?.(error, name);
      });
      // After a suspension of the machine, ticks that passed meanwhile are not made up for.
      schedule(name, trigger, ticks, Math.max(tick, ticks.latest(now()) ?? tick));
    }, delay);
    timers.set(name, timer);
  };

  const begin = async (name: string, trigger: TriggerConfig): Promise<void> => {
    await retry(name, trigger);
    if (trigger.type !== 'cron' && trigger.type !== 'heartbeat') return;
    const ticks = scheduleOf(trigger);
    const startedAt = now();
    const missed = ticks.latest(startedAt);
    const [known] = await store.latest(name, 1);
    // Without an earlier tick the trigger is new: nothing was missed. The claim marks the beginning.
    if (missed !== undefined && known === undefined) {
      await store.claim({ trigger: name, key: String(missed), at: missed, process: mark, isDone: true, payload: '{}' });
    } else if (missed !== undefined && known !== undefined && known.at < missed && trigger.missed === 'run') {
      await fire(name, trigger, String(missed), missed, {});
    }
    schedule(name, trigger, ticks, startedAt);
  };

  await Promise.all(
    Object.entries(triggers).map(async ([name, trigger]) => {
      // Checks the schedule of every trigger before the first effect.
      if (trigger.type === 'cron' || trigger.type === 'heartbeat') scheduleOf(trigger);
      await Promise.resolve();
      await begin(name, trigger);
    }),
  );

  const retryAll = async (): Promise<void> => {
    for (const [key, { at, claim }] of unclaimed) {
      const isClaimed = await claim().then(
        () => true,
        () => false,
      );
      if (isClaimed || now() - at >= retryForMs) unclaimed.delete(key);
    }
    for (const [name, trigger] of Object.entries(triggers)) {
      await retry(name, trigger).catch((error: unknown) => onError?.(error, name));
    }
  };
  let retrying: NodeJS.Timeout | undefined;
  const retryLater = (): void => {
    if (isClosed || Object.keys(triggers).length === 0) return;
    retrying = setTimeout(() => void tracked(retryAll()).then(retryLater), retryEveryMs);
  };
  retryLater();

  return {
    webhook: async (name, request) => {
      const trigger = Object.hasOwn(triggers, name) ? triggers[name] : undefined;
      const secret = trigger?.type === 'webhook' ? environment[trigger.secret_env] : undefined;
      if (trigger?.type !== 'webhook' || secret === undefined || secret === '') {
        throw new WebhookError(
          'unknown-trigger',
          `The webhook ${JSON.stringify(name)} does not exist or has no secret.`,
        );
      }
      const at = now();
      const id = verifyWebhook(request, secret, trigger.tolerance, at);
      return { isNew: await tracked(fire(name, trigger, id, at, { body: bodyOf(request.body) })) };
    },
    message: async ({ tenant, id, text }) => {
      const fired = await Promise.all(
        Object.entries(triggers).map(async ([name, trigger]) => {
          if (trigger.type !== 'message' || trigger.tenant !== tenant) return [];
          if (!text.toLowerCase().includes(trigger.contains.toLowerCase())) return [];
          return (await tracked(fire(name, trigger, id, now(), { text }))) ? [name] : [];
        }),
      );
      return fired.flat();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(retrying);
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.allSettled(running);
    },
  };
};

const isSameProcess = (left: ProcessMark, right: ProcessMark): boolean =>
  JSON.stringify(left) === JSON.stringify(right);

const bodyOf = (body: string): JSONValue => {
  try {
    return JSON.parse(body) as JSONValue;
  } catch {
    return body;
  }
};
