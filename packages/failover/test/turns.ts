import {
  harness,
  type HarnessOptions,
  type ModelDriver,
  type ModelRequest,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
  type TurnInput,
} from '@h/turn';
import { failure, scriptedModel, type ScriptedModel, type ScriptStep } from '@h/turn/testing';
import { vi } from 'vitest';
import {
  createCredentialPool,
  failover,
  type CredentialPool,
  type CredentialPoolOptions,
  type FailoverOptions,
} from '../src/index.js';

export const rateLimited = (retryAfter?: number) =>
  failure('Rate limited', {
    status: 429,
    code: 'rate_limit_error',
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
  });
export const overloaded = failure('Overloaded', { status: 529, code: 'overloaded_error' });
export const wrongKey = failure('invalid x-api-key', { status: 401, code: 'authentication_error' });
export const broken = failure('fetch failed', { code: 'ECONNRESET' });
export const badRequest = failure('messages: text content blocks must be non-empty', {
  status: 400,
  code: 'invalid_request_error',
});
export const tooLong = failure('prompt is too long: 208310 tokens > 200000 maximum', {
  status: 400,
  code: 'invalid_request_error',
});
export const refused = failure('Output blocked by content filtering policy', { status: 400 });

/** Two providers with two keys each, no jitter. */
export const poolOf = (options: Partial<CredentialPoolOptions> = {}): CredentialPool =>
  createCredentialPool({
    profiles: ['a1', 'a2', 'b1', 'b2'].map((id) => ({
      id,
      provider: id.startsWith('a') ? 'alpha' : 'beta',
      key: `key-of-${id}`,
    })),
    random: () => 0,
    ...options,
  });

export const models = ['alpha/one', 'beta/two'];

/** A turn that is watched. */
export interface Watched {
  readonly events: TurnEvent[];
  all<Type extends TurnEventType>(type: Type): TurnEventOf<Type>[];
  readonly types: readonly string[];
  readonly end: TurnEventOf<'turn.end'> | undefined;
  leave(): void;
}

export const watch = (turn$: ReturnType<ReturnType<typeof agentWith>['turn']>): Watched => {
  const events: TurnEvent[] = [];
  const subscription = turn$.subscribe((event) => events.push(event));
  const all = <Type extends TurnEventType>(type: Type) =>
    events.filter((event): event is TurnEventOf<Type> & TurnEvent => event.type === type) as TurnEventOf<Type>[];
  return {
    events,
    all,
    get types() {
      return events.map(({ type }) => type);
    },
    get end() {
      return all('turn.end')[0];
    },
    leave: () => subscription.unsubscribe(),
  };
};

export const agentWith = (model: ModelDriver, options: FailoverOptions = {}, more: Partial<HarnessOptions> = {}) =>
  harness({ model, ...more }).pipe(failover({ random: () => 0, ...options }));

/** Runs a turn with a script, for N ms of virtual time. */
export const run = async (
  script: readonly ScriptStep[],
  options: FailoverOptions = {},
  more: Partial<HarnessOptions> & Partial<TurnInput> & { readonly forMs?: number } = {},
) => {
  const { forMs = 3_600_000, metadata, ...rest } = more;
  const model = scriptedModel(script);
  const watched = watch(
    agentWith(model, options, rest).turn({ session: 'alice', input: 'Go.', ...(metadata && { metadata }) }),
  );
  await vi.advanceTimersByTimeAsync(forMs);
  return { watched, model, asked: askedOf(model) };
};

/** The targets that were asked, in order. */
export const askedOf = ({ requests }: ScriptedModel): readonly string[] =>
  requests.map(({ model, credential }: ModelRequest) =>
    [model, credential].filter((name) => name !== undefined).join(' with '),
  );

export const notices = ({ events }: Watched) =>
  events.filter(({ type }) => type.startsWith('failover.')) as (TurnEvent & Record<string, unknown>)[];
