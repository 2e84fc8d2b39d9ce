import { hooks } from '@h/hooks';
import { approvalTools } from '@h/hooks/commands';
import { harness, type ToolDefinition } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { approvalModes, type ApprovalMode } from '../arguments.js';
import { openRules } from './rules.js';
import { showTurn } from '../run-turn.js';
import { refuser, type Questioner } from '../view/questions.js';

interface Case {
  readonly name: string;
  readonly input?: object;
  readonly effect?: NonNullable<ToolDefinition['effect']>;
}

const bash = (command: string): Case => ({ name: 'bash', input: { command } });

/** At least one call per rule that asks. */
const risky: readonly Case[] = [
  ...[
    'git push origin main',
    'cd sub && git push --tags',
    'git reset --hard',
    'git clean -fd',
    'gh pr create --fill',
    'npx prisma migrate deploy',
    'npm publish',
    'vercel --prod',
  ].map((command) => bash(command)),
  ...approvalTools.map(({ tool }) => ({ name: tool.replaceAll('*', 'x') })),
  { name: 'drop', effect: 'destructive' },
];

/** Runs one call under a mode; the user approves every request. */
const run = async ({ name, input = {}, effect }: Case, approve: ApprovalMode) => {
  const folder = temporaryFolder();
  const questions: Questioner & { asked: number } = {
    asked: 0,
    ask: () => {
      questions.asked += 1;
      return Promise.resolve({ decision: 'once' });
    },
    abandon: () => undefined,
  };
  const approver = approve === 'never' ? refuser : questions;
  const rules = await openRules({
    workspace: folder,
    approve,
    environment: { HOME: folder, XDG_CONFIG_HOME: folder },
    questions: approver,
  });
  const tools = scriptedTools({ [name]: 'done' }, { [name]: { ...(effect && { effect }) } });
  const model = scriptedModel([response(call('1', name, input)), 'Done.']);
  const agent = harness({ model, tools }).pipe(hooks(rules.hooks, { approvalStore: rules.approvalStore }));
  await showTurn(agent, { session: 's', input: 'Go' }, () => undefined, approver).end;
  rules.close();
  return { asked: questions.asked, ran: tools.ran.length };
};

describe('--approve', () => {
  it.each(risky)('asks about $name $input under on-risk and always, denies it under never', async (one) => {
    expect(await run(one, 'on-risk')).toEqual({ asked: 1, ran: 1 });
    expect(await run(one, 'always')).toEqual({ asked: 1, ran: 1 });
    expect(await run(one, 'never')).toEqual({ asked: 0, ran: 0 });
  });

  it('asks about other changes only under always', async () => {
    expect(await run({ name: 'write' }, 'on-risk')).toEqual({ asked: 0, ran: 1 });
    expect(await run({ name: 'write' }, 'always')).toEqual({ asked: 1, ran: 1 });
    expect(await run({ name: 'write' }, 'never')).toEqual({ asked: 0, ran: 1 });
  });

  it.each(approvalModes)('allows read-only calls under %s', async (mode) => {
    expect(await run({ name: 'read', effect: 'read-only' }, mode)).toEqual({ asked: 0, ran: 1 });
  });
});
