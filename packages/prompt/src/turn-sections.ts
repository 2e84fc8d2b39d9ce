import type { MaybePromise, NewEvent, OperatorContext, TurnEventOf } from '@h/turn';
import { isPromiseLike, loadAll } from './load.js';
import { byCodeUnit, normalizeCapabilities } from './normalize.js';
import type { CheckedOptions, TurnFacts } from './options.js';
import type { RenderedTier } from './prompt-cache.js';
import { gather, sectionJob, sourceJob, type BatchJob, type Gathered } from './section-jobs.js';
import type { FoundSection, FrozenContext, PromptSection, SessionContext, VolatileContext, VolatileSection } from './sections.js';
import type { TextSection } from './tail-message.js';

/** What stays the same for a turn. */
export interface StableSections {
  readonly frozen: RenderedTier;
  readonly session: RenderedTier;
  /** What sources have found that belongs elsewhere. */
  readonly volatile: readonly TextSection[];
  readonly bootstrap: readonly TextSection[];
}

/** The sections of one turn. */
export interface TurnSections {
  /** Learns what the turn is about. */
  begin(event: TurnEventOf<'turn.start'>): void;
  readonly facts: TurnFacts;
  /** The stable tiers, loaded when they are first asked for. */
  stable(at: number, turnSignal: () => AbortSignal): MaybePromise<StableSections>;
  bootstrap(at: number, turnSignal: () => AbortSignal): MaybePromise<readonly TextSection[]>;
  /** The volatile sections for this request. */
  volatile(request: TurnEventOf<'model.request'>, turnSignal: () => AbortSignal): MaybePromise<readonly TextSection[]>;
  /** What is to be told since it was last asked for. */
  takeNotices(): readonly NewEvent[];
}

/** Loads the sections of one turn, each as often as its tier says. */
export const turnSections = (options: CheckedOptions, operator: OperatorContext): TurnSections => {
  const { cache } = options;
  const ids = new Set([...options.frozen, ...options.session, ...options.volatile, ...options.bootstrap].map(({ id }) => id));
  let facts: TurnFacts = { turn: '', session: '', trigger: 'user', startedAt: 0 };
  let notices: NewEvent[] = [];
  let capabilities: { readonly list: readonly string[]; readonly key: string } | undefined;
  let stable: MaybePromise<StableSections> | undefined;
  const known = new Map<string, readonly FoundSection[]>();
  const late = new Set<string>();

  const capable = (): { readonly list: readonly string[]; readonly key: string } => {
    if (capabilities) return capabilities;
    const given = typeof options.capabilities === 'function' ? options.capabilities(facts) : options.capabilities;
    const list = [...new Set(given.map((capability) => capability.trim()))].toSorted(byCodeUnit);
    capabilities = { list, key: normalizeCapabilities(given).join('\n') };
    return capabilities;
  };

  const frozenContext = (signal: () => AbortSignal): FrozenContext => ({
    capabilities: capable().list,
    get signal() {
      return signal();
    },
  });
  const sessionContext = (signal: () => AbortSignal): SessionContext => ({
    turn: facts.turn,
    session: facts.session,
    trigger: facts.trigger,
    metadata: facts.metadata,
    startedAt: facts.startedAt,
    capabilities: capable().list,
    get signal() {
      return signal();
    },
  });
  const volatileContext = (
    { at, step, attempt, model, messages, tools }: TurnEventOf<'model.request'>,
    signal: () => AbortSignal,
  ): VolatileContext => ({
    turn: facts.turn,
    session: facts.session,
    trigger: facts.trigger,
    metadata: facts.metadata,
    startedAt: facts.startedAt,
    at,
    step,
    attempt,
    model,
    messages,
    tools,
    capabilities: capable().list,
    get signal() {
      return signal();
    },
  });

  const load = (jobs: readonly BatchJob[], at: number, turnSignal: () => AbortSignal): MaybePromise<Gathered> => {
    const results = loadAll(jobs, { deadlineMs: deadline(options, facts, at), after: (delayMs, callback) => operator.after(delayMs, callback), turnSignal });
    const finish = (loaded: Awaited<typeof results>): Gathered => {
      const gathered = gather(jobs, loaded, ids);
      if (gathered.notices.length > 0) notices.push(...gathered.notices);
      return gathered;
    };
    return isPromiseLike(results) ? results.then(finish) : finish(results);
  };

  const frozenJob = (section: PromptSection): BatchJob => {
    const { text } = section;
    if (typeof text === 'string') return sectionJob(section, 'frozen', frozenContext);
    const { key } = capable();
    const before = cache.frozen(text, key);
    return before === undefined ? sectionJob(section, 'frozen', frozenContext) : sectionJob({ id: section.id, text: before }, 'frozen', frozenContext);
  };

  const loadStable = (at: number, turnSignal: () => AbortSignal): MaybePromise<StableSections> => {
    const jobs = [
      ...options.frozen.map(frozenJob),
      ...options.session.map((entry) => ('load' in entry ? sourceJob(entry, sessionContext) : sectionJob(entry, 'session', sessionContext))),
    ];
    const frozenIds = new Set(options.frozen.map(({ id }) => id));
    return whenThere(load(jobs, at, turnSignal), ({ sections }) => {
      const frozen = sections.filter(({ id }) => frozenIds.has(id));
      for (const { id, text } of frozen) freeze(id, text);
      const others = sections.filter(({ id }) => !frozenIds.has(id));
      const of = (...tiers: readonly FoundSection['tier'][]): readonly FoundSection[] => others.filter(({ tier }) => tiers.includes(tier));
      return {
        frozen: cache.render(frozen),
        session: cache.render(of('session', undefined)),
        volatile: of('volatile'),
        bootstrap: of('bootstrap'),
      };
    });
  };

  const freeze = (id: string, text: string): void => {
    const by = options.frozen.find((section) => section.id === id)?.text;
    if (typeof by === 'function') cache.freeze(by, capable().key, text);
  };

  const loadVolatile = (
    request: TurnEventOf<'model.request'>,
    turnSignal: () => AbortSignal,
  ): MaybePromise<readonly TextSection[]> => {
    if (options.volatile.length === 0) return none;
    const wanted = options.volatile.filter(({ id }) => !late.has(id) && !known.has(id));
    const jobs = wanted.map((section) => sectionJob(section, 'volatile', (signal) => volatileContext(request, signal)));
    return whenThere(load(jobs, request.at, turnSignal), (gathered) => {
      for (const id of gathered.late) late.add(id);
      keepForTurn(wanted, gathered.sections);
      return inOrder(gathered.sections);
    });
  };

  const keepForTurn = (wanted: readonly VolatileSection[], sections: readonly FoundSection[]): void => {
    for (const { id, refresh } of wanted) {
      if (refresh === 'turn') known.set(id, sections.filter((found) => found.id === id));
    }
  };

  const inOrder = (fresh: readonly FoundSection[]): readonly TextSection[] =>
    known.size === 0
      ? fresh
      : options.volatile.flatMap(({ id }) => known.get(id) ?? fresh.filter((found) => found.id === id));

  return {
    get facts() {
      return facts;
    },
    begin: ({ turn, at, session, trigger, metadata }) => {
      facts = { turn, session, trigger, startedAt: at, metadata };
    },
    stable: (at, turnSignal) => (stable ??= settling(loadStable(at, turnSignal), (value) => (stable = value))),
    bootstrap: (at, turnSignal) => {
      const jobs = options.bootstrap.map((section) => sectionJob(section, 'bootstrap', sessionContext));
      return whenThere(load(jobs, at, turnSignal), ({ sections }) => sections);
    },
    volatile: loadVolatile,
    takeNotices: () => {
      const taken = notices;
      if (taken.length > 0) notices = [];
      return taken;
    },
  };
};

const none: readonly TextSection[] = Object.freeze([]);

/** Goes on when the value is there: at once, where it is there already. */
export const whenThere = <Value, Result>(value: MaybePromise<Value>, then: (value: Value) => Result): MaybePromise<Result> =>
  isPromiseLike(value) ? value.then(then) : then(value);

const settling = <Value>(value: MaybePromise<Value>, keep: (value: Value) => void): MaybePromise<Value> =>
  whenThere(value, (there) => {
    keep(there);
    return there;
  });

const deadline = ({ deadlineMs }: CheckedOptions, facts: TurnFacts, at: number): number => {
  if (typeof deadlineMs === 'number') return deadlineMs;
  const given = deadlineMs({ ...facts, at });
  return Number.isFinite(given) && given > 0 ? given : 0;
};
