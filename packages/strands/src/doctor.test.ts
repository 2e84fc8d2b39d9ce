import { intercept, type TurnEvent } from '@h/turn';
import { Agent, ExecuteToolStage, tool, type Plugin } from '@strands-agents/sdk';
import { describe, expect, it } from 'vitest';
import { asPlugin } from './as-plugin.js';
import { doctor, DoctorError, type DoctorAgent, type DoctorProbe } from './doctor.js';

const read = tool({ name: 'read', description: 'Reads.', callback: () => 'text' });
const agentOf = (
  { model, tools }: { readonly model: DoctorProbe['model']; readonly tools: ConstructorParameters<typeof Agent>[0] },
  ...plugins: Plugin[]
): Agent => new Agent({ ...tools, name: 'inner', model, plugins, printer: false, retryStrategy: null });
const withCanary = ({ tools }: DoctorProbe) => ({ tools: [read, ...tools] });

const seen = async (agent: DoctorAgent, timeoutMs?: number): Promise<unknown> => {
  const error: unknown = await doctor({ agent }, { timeoutMs }).catch((thrown: unknown) => thrown);
  return error instanceof DoctorError ? error.findings.map((finding) => finding.seen) : error;
};
/** Runs an agent whose sub-agent has the canary. */
const delegated =
  (plugin: Plugin, ...inner: Plugin[]): DoctorAgent =>
  (probe) =>
    agentOf(
      {
        model: probe.delegate('inner'),
        tools: { tools: [agentOf({ model: probe.model, tools: withCanary(probe) }, ...inner)] },
      },
      plugin,
    ).invoke('Check.', { cancelSignal: probe.signal });

describe('doctor of Strands', () => {
  it('passes an agent with the plugin, and a sub-agent that has it too', async () => {
    const events: TurnEvent[] = [];
    const plugin = asPlugin(intercept('spy', () => ({ observe: { '*': (event) => void events.push(event) } })));
    expect(
      await seen((probe) => agentOf({ model: probe.model, tools: withCanary(probe) }, plugin).invoke('Check.')),
    ).toBeUndefined();
    expect(await seen(delegated(plugin, plugin))).toBeUndefined();
    const results = events.flatMap((event) => (event.type === 'tool.result' ? [[event.call.name, event.status]] : []));
    expect(results).toEqual([
      ['h_canary', 'denied'],
      ['h_canary', 'denied'],
      ['inner', 'ok'],
    ]);
  });

  const skipping: Plugin = {
    name: 'skipping',
    initAgent: (agent) =>
      void (agent as Agent).addMiddleware(ExecuteToolStage, async function* ({ tool: wanted, ...context }) {
        const stream = wanted?.stream(context as never);
        for (let step = await stream?.next(); step !== undefined; step = await stream?.next()) {
          if (step.done === true) return { result: step.value };
          yield step.value as never;
        }
        throw new RangeError('The tool is unknown.');
      }),
  };
  it.each<[string, string, DoctorAgent]>([
    [
      'ran',
      'the agent has no plugin',
      (probe) => agentOf({ model: probe.model, tools: withCanary(probe) }).invoke('Check.'),
    ],
    ['ran', 'the sub-agent has no plugin', delegated(asPlugin())],
    [
      'ran',
      'another plugin runs tools past the operators',
      (probe) => agentOf({ model: probe.model, tools: withCanary(probe) }, skipping, asPlugin()).invoke('Check.'),
    ],
    ['not-denied', 'the model is not used', () => Promise.resolve('I am fine.')],
    ['failed', 'the agent throws', () => Promise.reject(new RangeError('no key'))],
    ['timed-out', 'the agent hangs', () => new Promise(() => undefined)],
  ])('fails with the finding %s if %s', async (finding, _, agent) => {
    expect(await seen(agent, finding === 'timed-out' ? 20 : undefined)).toEqual([finding]);
  });

  it('rejects options that are not valid', async () => {
    const agents = { coder: () => Promise.resolve() };
    await expect(doctor(agents, { timeout: 1000 } as object)).rejects.toThrow(/unknown option "timeout"/);
    await expect(doctor(agents, { timeoutMs: 0 })).rejects.toThrow(/timeoutMs/);
    await expect(doctor({})).rejects.toThrow(/agents is empty/);
  });
});
