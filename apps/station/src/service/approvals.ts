import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { maxTimerMs } from '@h/options';
import * as z from 'zod';
import type { approvalDecision, StationApproval } from '../api/contract.js';
import type { ApprovalBody, Records, StoredRecord } from './records.js';
import { StationError, sha256 } from './session-id.js';

type Decision = z.infer<typeof approvalDecision>;

/** A question of a workflow. */
export interface ApprovalQuestion {
  /** The same id is the same question, also after a restart. */
  readonly id: string;
  readonly tenant: string;
  readonly run: string;
  readonly reason: string;
  readonly expiresAt?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ApprovalAnswer {
  readonly isApproved: boolean;
  readonly by: string | null;
  readonly reason: string | null;
}

/**
 * The approvals of all sessions and runs. A decision is stored first, and then passed to the turn that waits for it, so
 * it takes effect once, in whichever process the turn runs or is resumed.
 */
export class ApprovalDesk {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #linkMs: number;

  constructor(records: Records, now: () => number, linkMs: number) {
    this.#records = records;
    this.#now = now;
    this.#linkMs = linkMs;
  }

  async list(tenant: string, limit = 200): Promise<readonly StationApproval[]> {
    const found = await this.#records.list('approval', { tenant, limit });
    return found.map(({ body }) => this.show(body));
  }

  async get(tenant: string, id: string): Promise<StationApproval> {
    return this.show((await this.#find(tenant, id)).body);
  }

  /** The approval as clients see it. */
  show({
    request: _request,
    decision: _decision,
    decisionReason: _reason,
    ...approval
  }: ApprovalBody): StationApproval {
    return this.#isExpired(approval) ? { ...approval, state: 'expired' } : approval;
  }

  /** @throws StationError if it is not open, has expired, or the decision is about another call */
  async decide(tenant: string, id: string, by: string, { decision, reason, hash }: Decision): Promise<StationApproval> {
    await this.#find(tenant, id);
    let failure: StationError | undefined;
    const saved = await this.#records.update('approval', id, (current) => {
      failure = current ? this.#refusal(current.body, hash) : notFound();
      if (!current || failure) return undefined;
      const body: ApprovalBody = {
        ...current.body,
        state: decision === 'deny' ? 'denied' : 'approved',
        decidedBy: by,
        decidedAt: this.#now(),
        decision,
        decisionReason: reason ?? null,
      };
      return { ...current, body };
    });
    if (failure ?? !saved) throw failure ?? notFound();
    return this.show(saved.body);
  }

  /** Asks on behalf of a workflow, and resolves when it is decided. */
  async ask(question: ApprovalQuestion): Promise<ApprovalAnswer> {
    const { tenant, run, reason, expiresAt = null, signal } = question;
    const id = questionId(question.id);
    const at = this.#now();
    const body: ApprovalBody = {
      id,
      session: null,
      run,
      turn: null,
      agent: null,
      reason,
      call: null,
      requestedAt: at,
      expiresAt,
      state: 'open',
      decidedBy: null,
      decidedAt: null,
      request: question.id,
      decision: null,
      decisionReason: null,
    };
    await this.#records.insert({ kind: 'approval', id, tenant, at, body });
    return this.#decided(id, signal);
  }

  #decided(id: string, signal: AbortSignal | undefined): Promise<ApprovalAnswer> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const end = (): void => {
        clearTimeout(timer);
        stop();
        signal?.removeEventListener('abort', onAbort);
      };
      const look = async (): Promise<void> => {
        const found = await this.#records.get('approval', id);
        const approval = found && this.show(found.body);
        if (approval?.state === 'open') {
          clearTimeout(timer);
          if (approval.expiresAt !== null) {
            timer = setTimeout(
              () => void look().catch(reject),
              Math.min(maxTimerMs, approval.expiresAt - this.#now() + 1),
            );
          }
          return;
        }
        end();
        resolve({
          isApproved: approval?.state === 'approved',
          by: approval?.decidedBy ?? null,
          reason: found?.body.decisionReason ?? (approval?.state === 'expired' ? 'The approval expired.' : null),
        });
      };
      const onAbort = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const stop = this.#records.onChange((change) => {
        if (change.kind === 'approval' && change.id === id) void look().catch(reject);
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) onAbort();
      else void look().catch(reject);
    });
  }

  /** Ends the question of a workflow whose run was cancelled. */
  async withdraw(question: string): Promise<void> {
    await this.#records.update('approval', questionId(question), (current) =>
      current?.body.state === 'open' ? { ...current, body: { ...current.body, state: 'withdrawn' } } : undefined,
    );
  }

  /** Creates a signed link that decides an approval once, without a token, while the token of its creator exists. */
  async link(
    { tenant, name: by, token }: { readonly tenant: string; readonly name: string; readonly token: string },
    id: string,
    url: string,
  ): Promise<{ url: string; expiresAt: number }> {
    const { body } = await this.#find(tenant, id);
    const refused = this.#refusal(body, body.call?.hash);
    if (refused) throw refused;
    const expiresAt = Math.min(body.expiresAt ?? Infinity, this.#now() + this.#linkMs);
    const content = JSON.stringify({ id, tenant, by, token, expiresAt, nonce: randomBytes(9).toString('base64url') });
    const payload = Buffer.from(content).toString('base64url');
    return { url: `${url}/a/${payload}.${await this.#sign(payload)}`, expiresAt };
  }

  /** Returns the approval of a link. Looking at it does not use the link. */
  async linked(token: string): Promise<StationApproval> {
    const { tenant, id, key } = await this.#open(token);
    if (await this.#records.get('link', key)) throw usedLink();
    return this.get(tenant, id);
  }

  /** Decides an approval by its link, for one call. The link is used up if the decision is accepted. */
  async decideLinked(
    token: string,
    decision: Decision,
  ): Promise<{ tenant: string; approval: StationApproval; by: string }> {
    const { tenant, id, by, key } = await this.#open(token);
    const { body } = await this.#find(tenant, id);
    const refused = this.#refusal(body, decision.hash) ?? lastingDecision(decision);
    if (refused) throw refused;
    const at = this.#now();
    if (!(await this.#records.insert({ kind: 'link', id: key, tenant, at, body: { approval: id } }))) throw usedLink();
    const actor = `link of ${by}`;
    return { tenant, by: actor, approval: await this.decide(tenant, id, actor, decision) };
  }

  async #open(token: string): Promise<{ id: string; tenant: string; by: string; key: string }> {
    const [payload = '', signature = ''] = token.split('.');
    const expected = Buffer.from(await this.#sign(payload));
    const given = Buffer.from(signature);
    const isSigned = expected.length === given.length && timingSafeEqual(expected, given);
    if (!isSigned) throw new StationError(404, 'unknown-link', 'The link is not valid. Ask for another one.');
    const content = linkContent.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    if (content.expiresAt <= this.#now()) {
      throw new StationError(410, 'expired-link', 'The link has expired. Ask for another one.');
    }
    if (!(await this.#records.get('token', content.token))) {
      throw new StationError(410, 'revoked-link', 'The token that created the link was revoked. Ask for another link.');
    }
    return { ...content, key: sha256(payload).slice(0, 32) };
  }

  async #sign(payload: string): Promise<string> {
    const id = 'approval-links';
    const body = { value: randomBytes(32).toString('base64url') };
    const known = await this.#records.get('secret', id);
    if (!known) await this.#records.insert({ kind: 'secret', id, tenant: '', at: 0, body });
    const secret = known ?? (await this.#records.get('secret', id));
    return createHmac('sha256', secret?.body.value ?? body.value)
      .update(payload)
      .digest('base64url');
  }

  async #find(tenant: string, id: string): Promise<StoredRecord<'approval'>> {
    const found = await this.#records.get('approval', id);
    if (found?.tenant !== tenant) throw notFound();
    return found;
  }

  #refusal(approval: StationApproval, hash: string | undefined): StationError | undefined {
    if (this.#isExpired(approval)) {
      return new StationError(409, 'approval-expired', 'The approval has expired, and its call was denied.');
    }
    if (approval.state !== 'open') {
      return new StationError(409, 'approval-closed', `The approval is not open: it is ${approval.state}.`);
    }
    if (approval.call && approval.call.hash !== hash) {
      return new StationError(
        409,
        'other-call',
        'The decision is about another call. Read the approval again and send its "call.hash".',
        'hash',
      );
    }
    return undefined;
  }

  #isExpired({ state, expiresAt }: StationApproval): boolean {
    return state === 'open' && expiresAt !== null && expiresAt <= this.#now();
  }
}

const questionId = (question: string): string => sha256(`run:${question}`).slice(0, 32);

const linkContent = z.object({
  id: z.string(),
  tenant: z.string(),
  by: z.string(),
  token: z.string(),
  expiresAt: z.number(),
});

const notFound = (): StationError => new StationError(404, 'unknown-approval', 'The approval does not exist.');

/** A link is about one call, and its holder has no token: it cannot allow others. */
const lastingDecision = ({ decision }: Decision): StationError | undefined =>
  decision === 'once' || decision === 'deny'
    ? undefined
    : new StationError(403, 'one-call', 'A link decides one call. Send "once" or "deny".', 'decision');

const usedLink = (): StationError =>
  new StationError(410, 'used-link', 'The link was used already. Ask for another one.');
