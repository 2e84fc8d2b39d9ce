import { createHash, randomBytes } from 'node:crypto';
import { CodedError } from '@h/options';

/** A request that the service rejects. `status` is that of the HTTP response. */
export class StationError extends CodedError {
  readonly status: number;
  readonly field: string | null;

  constructor(status: number, code: string, message: string, field: string | null = null) {
    super(code, message);
    this.status = status;
    this.field = field;
  }
}

const tagLength = 10;

/** Identifies a tenant in ids of sessions without its name. */
export const tenantTag = (tenant: string): string => sha256(`tenant:${tenant}`).slice(0, tagLength);

/**
 * Creates the id of a session: `agent.tenant.random`. The agent and the tenant can be read from it in any process,
 * without a look-up.
 *
 * @param seed - the same seed gives the same id, so that a repeated request creates one session
 */
export const newSessionId = (agent: string, tenant: string, seed?: string): string => {
  const random = seed === undefined ? randomBytes(12).toString('hex') : sha256(`session:${seed}`).slice(0, 24);
  return `${agent}.${tenantTag(tenant)}.${random}`;
};

/** Returns the agent and the tag of the tenant of a session, also of the session of a sub-agent. */
export const partsOfSession = (session: string): { readonly agent: string; readonly tag: string } | undefined => {
  const found = /^([\w-]{1,64})\.([0-9a-f]{10})\./.exec(session);
  return found?.[1] === undefined || found[2] === undefined ? undefined : { agent: found[1], tag: found[2] };
};

export const isAgentName = (name: string): boolean => /^[\w-]{1,64}$/.test(name);

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The id of an artifact in the API: an artifact belongs to its session. */
export const artifactId = (session: string, artifact: string): string => `${session}~${artifact}`;
