import { HttpAgent, type BaseEvent } from '@ag-ui/client';
import { expect, it, onTestFinished } from 'vitest';
import { eventually, testStation, usual } from '../../test/station.js';
import { Metrics } from './metrics.js';
import { startServer } from './server.js';

it('runs turns for a client of AG-UI, with tools and approvals', async () => {
  const given = await testStation();
  const { station } = given;
  const server = await startServer({
    ...usual,
    port: 0,
    station,
    metrics: new Metrics(),
    onProblem: (problem) => given.problems.push(problem),
  });
  onTestFinished(() => server.close());
  const headers = { authorization: `Bearer ${await given.token()}` };
  const agent = new HttpAgent({ url: `${server.url}/ag-ui/helper`, headers, threadId: 'thread-1' });
  const run = async (text: string): Promise<readonly string[]> => {
    const types: string[] = [];
    agent.addMessage({ id: `message-${text}`, role: 'user', content: text });
    await agent.runAgent(
      {},
      {
        onEvent: ({ event: { type } }: { readonly event: BaseEvent }) =>
          void (types.at(-1) === type || types.push(type)),
      },
    );
    return types;
  };
  expect(await run('echo hello')).toEqual([
    'RUN_STARTED',
    'STEP_STARTED',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'STEP_FINISHED',
    'RUN_FINISHED',
  ]);
  const approving = eventually(given, async () => (await station.approvals.list('acme'))[0]).then(
    async ({ id, call }) => station.approvals.decide('acme', id, 'ann', { decision: 'once', hash: call?.hash }),
  );
  const types = await run('deploy staging');
  await approving;
  for (const type of ['TOOL_CALL_START', 'CUSTOM', 'TOOL_CALL_RESULT', 'RUN_FINISHED']) expect(types).toContain(type);
  expect(agent.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  expect(given.problems).toEqual([]);
});
