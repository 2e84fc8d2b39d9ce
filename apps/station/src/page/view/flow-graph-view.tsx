import { useMemo } from 'preact/hooks';
import type { StationRun, StationWorkflow } from '../../api/contract.js';
import { arrangeFlow, nodeHeight, nodeWidth, statusesOf, takenEdges } from '../state/flow-graph.js';
import { phone, useMedia } from './context.js';
import { stateText } from './elements.js';

const maxName = 18;
/** A graph shrinks to the width of the page, but not below this; then it scrolls. */
const smallestScale = 0.75;

/** A workflow as a graph with the states and transitions that a run has reached. */
export const FlowGraphView = ({
  workflow,
  run,
}: {
  readonly workflow: StationWorkflow;
  readonly run: StationRun | undefined;
}) => {
  const isVertical = useMedia(phone);
  const graph = useMemo(() => arrangeFlow(workflow.states, isVertical), [workflow, isVertical]);
  const statuses = statusesOf(run);
  const taken = takenEdges(run, graph.edges);
  const summary = graph.nodes
    .filter(({ type }) => type !== 'end')
    .map(({ name }) => `${name}: ${stateText(statuses.get(name) ?? 'pending')}`)
    .join(', ');
  return (
    <div class="graph" tabIndex={0} role="region" aria-label={`Graph of ${workflow.name}`}>
      <svg
        width={graph.width}
        style={{ minWidth: `${Math.round(graph.width * smallestScale)}px` }}
        viewBox={`0 0 ${graph.width} ${graph.height}`}
        role="img"
        aria-label={summary}
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0,0.5 L7,4 L0,7.5" class="arrow" />
          </marker>
          <marker id="arrow-taken" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0,0.5 L7,4 L0,7.5" class="arrow taken" />
          </marker>
        </defs>
        {graph.edges.map((edge) => {
          const isTaken = taken.has(`${edge.from}\n${edge.to}`);
          return (
            <path
              key={`${edge.from} ${edge.to}`}
              class="edge"
              data-taken={isTaken}
              data-back={edge.isBack}
              d={edge.path}
              marker-end={isTaken ? 'url(#arrow-taken)' : 'url(#arrow)'}
            />
          );
        })}
        {graph.nodes.map(({ name, type, x, y }) => (
          <g
            key={name}
            class="node"
            data-status={statuses.get(name) ?? 'pending'}
            data-type={type}
            transform={`translate(${x},${y})`}
          >
            <rect width={nodeWidth} height={nodeHeight} rx={type === 'end' ? nodeHeight / 2 : 8} />
            <text class="node-name" x={14} y={type === 'end' ? 27 : 19}>
              {name.length > maxName ? `${name.slice(0, maxName - 1)}…` : name}
              <title>{name}</title>
            </text>
            {type !== 'end' && (
              <text class="node-type" x={14} y={34}>
                {type}
                {statuses.has(name) ? ` · ${stateText(statuses.get(name) ?? '')}` : ''}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
};
