import { useEffect, useState } from 'preact/hooks';
import type { StationRun, StationWorkflow } from '../../api/contract.js';
import { useStore } from '../client/store.js';
import { age, duration, moment } from '../state/format.js';
import { hrefOf } from '../state/route.js';
import { readableJson } from '../state/visible.js';
import { Output } from './call-input.js';
import { useApp, useLoaded, useNow } from './context.js';
import { Busy, Dialog, Empty, State } from './elements.js';
import { FlowGraphView } from './flow-graph-view.js';

/** The workflows: one as a graph, its runs, and the steps of the chosen run. */
export const WorkflowsView = ({ workflow, run }: { readonly workflow: string | null; readonly run: string | null }) => {
  const { station } = useApp();
  const workflows = useLoaded(() => station.api.workflows(), []);
  if (!workflows) return <Busy text="Loading the workflows" />;
  const shown = workflows.find(({ id }) => id === workflow) ?? workflows[0];
  if (!shown) {
    return (
      <div class="page">
        <h1>Workflows</h1>
        <Empty title="No workflows">
          Add a YAML file to the folder <code>workflows</code> next to the configuration.
        </Empty>
      </div>
    );
  }
  return (
    <div class="page wide">
      <h1>Workflows</h1>
      {workflows.length > 1 && (
        <nav class="tabs pills" aria-label="Workflows">
          {workflows.map(({ id, name }) => (
            <a
              key={id}
              href={hrefOf({ view: 'workflows', workflow: id, run: null })}
              aria-current={id === shown.id ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      )}
      <WorkflowDetails key={shown.id} workflow={shown} chosen={run} />
    </div>
  );
};

const WorkflowDetails = ({
  workflow,
  chosen,
}: {
  readonly workflow: StationWorkflow;
  readonly chosen: string | null;
}) => {
  const { station, fail } = useApp();
  const now = useNow();
  const all = useStore(station.store, ({ runs }) => runs);
  const [isStarting, setStarting] = useState(false);
  useEffect(() => {
    station.api.runs(workflow.id).then((runs) => station.store.dispatch({ type: 'runs', runs }), fail);
  }, [workflow.id]);
  const runs = [...all.values()]
    .filter((run) => run.workflow === workflow.id)
    .toSorted((left, right) => right.startedAt - left.startedAt);
  const run = runs.find(({ id }) => id === chosen) ?? runs[0];
  const cancel = (id: string): void => {
    station.api.cancelRun(id).catch(fail);
  };
  return (
    <>
      <div class="page-head">
        <p class="lead" dir="auto">
          {workflow.description}
        </p>
        <button type="button" class="primary" onClick={() => setStarting(true)}>
          Start run
        </button>
      </div>
      <FlowGraphView workflow={workflow} run={run} />
      <div class="run-columns">
        <section>
          <h2 class="section">Runs</h2>
          {runs.length === 0 && <Empty title="No runs yet" />}
          <ul class="runs">
            {runs.slice(0, 50).map((each) => (
              <li key={each.id}>
                <a
                  class="run"
                  href={hrefOf({ view: 'workflows', workflow: workflow.id, run: each.id })}
                  aria-current={each === run ? 'true' : undefined}
                >
                  <State state={runState(each.state)} isLabelled />
                  <span class="muted" title={moment(each.startedAt)}>
                    {age(each.startedAt, now)}
                  </span>
                  <span class="muted end">{duration(Math.max(0, (each.endedAt ?? now) - each.startedAt))}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
        {run && (
          <section class="run-steps">
            <div class="page-head">
              <h2 class="section">Steps</h2>
              {run.endedAt === null && (
                <button type="button" class="danger" onClick={() => cancel(run.id)}>
                  Cancel run
                </button>
              )}
            </div>
            {run.error !== null && <p class="problem">{run.error}</p>}
            <ol class="steps">
              {run.steps.map((step, index) => (
                <Step key={index} step={step} now={now} />
              ))}
            </ol>
          </section>
        )}
      </div>
      {isStarting && <StartRun workflow={workflow} onClose={() => setStarting(false)} />}
    </>
  );
};

const runState = (state: StationRun['state']): string => (state === 'waiting' ? 'waiting-for-input' : state);

const Step = ({ step, now }: { readonly step: StationRun['steps'][number]; readonly now: number }) => (
  <li class="step">
    <p class="step-line">
      <State
        state={step.approval !== null && step.status === 'waiting' ? 'waiting-for-input' : step.status}
        isLabelled
      />
      <strong>{step.state}</strong>
      {step.attempt > 1 && <span class="muted">attempt {step.attempt}</span>}
      {step.session !== null && (
        <a href={hrefOf({ view: 'session', id: step.session, tab: 'conversation' })}>Session</a>
      )}
      {step.approval !== null && step.status === 'waiting' && <a href={hrefOf({ view: 'approvals' })}>Decide</a>}
      <span class="muted end">{duration(Math.max(0, (step.endedAt ?? now) - step.startedAt))}</span>
    </p>
    {step.error !== null && <p class="problem">{step.error}</p>}
    {step.output !== null && (
      <details>
        <summary class="muted">Output</summary>
        <Output label="Output" text={typeof step.output === 'string' ? step.output : readableJson(step.output)} />
      </details>
    )}
  </li>
);

const StartRun = ({ workflow, onClose }: { readonly workflow: StationWorkflow; readonly onClose: () => void }) => {
  const { station, fail } = useApp();
  const [input, setInput] = useState('{\n  \n}');
  const [problem, setProblem] = useState<string>();
  const start = async (): Promise<void> => {
    const value = objectOf(input);
    if (value === undefined) {
      setProblem('The input must be a JSON object, such as {"branch": "main"}.');
      return;
    }
    try {
      const run = await station.api.startRun(workflow.id, value);
      station.store.dispatch({ type: 'runs', runs: [run] });
      onClose();
      location.hash = hrefOf({ view: 'workflows', workflow: workflow.id, run: run.id });
    } catch (error) {
      fail(error);
    }
  };
  return (
    <Dialog title={`Start ${workflow.name}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label class="field">
          <span>Input, as JSON</span>
          <textarea
            class="mono"
            rows={6}
            value={input}
            aria-invalid={problem !== undefined}
            aria-describedby="start-problem"
            onInput={(event) => setInput(event.currentTarget.value)}
          />
        </label>
        <p id="start-problem" class="problem" role="alert">
          {problem}
        </p>
        <div class="form-end">
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Start run
          </button>
        </div>
      </form>
    </Dialog>
  );
};

const objectOf = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
