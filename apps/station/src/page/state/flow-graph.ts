import type { StationRun, StationWorkflow } from '../../api/contract.js';

/** Arranges the states of a workflow in layers and draws their transitions as curves. */

export type FlowStatus = StationRun['steps'][number]['status'] | 'pending';

export interface FlowNode {
  readonly name: string;
  readonly type: StationWorkflow['states'][number]['type'] | 'end';
  readonly x: number;
  readonly y: number;
}
export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
  /** It leads back to a state that is at or before its own. */
  readonly isBack: boolean;
}
export interface FlowGraph {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly width: number;
  readonly height: number;
}

export const nodeWidth = 148;
export const nodeHeight = 44;
const gapAlong = 56;
const gapAcross = 20;
const margin = 16;
const backLane = 26;
const endState = 'end';

/** Lays a workflow out from left to right, or from top to bottom if `isVertical`. */
export const arrangeFlow = (states: StationWorkflow['states'], isVertical = false): FlowGraph => {
  const next = new Map<string, readonly string[]>(states.map((state) => [state.name, state.next]));
  const types = new Map<string, FlowNode['type']>(states.map(({ name, type }) => [name, type]));
  if (states.some((state) => state.next.includes(endState)) && !types.has(endState)) types.set(endState, 'end');
  const back = backEdges(
    states.map(({ name }) => name),
    next,
  );
  const layers = layersOf([...types.keys()], next, back);
  const ordered = orderLayers(layers, next, back);
  const across = Math.max(...ordered.map((layer) => layer.length), 1);
  const [alongSize, acrossSize] = isVertical ? [nodeHeight, nodeWidth] : [nodeWidth, nodeHeight];
  const hasBack = back.size > 0;
  const nodes = ordered.flatMap((layer, index) =>
    layer.map((name, row): FlowNode => {
      const along = margin + index * (alongSize + gapAlong);
      const offset = ((across - layer.length) * (acrossSize + gapAcross)) / 2;
      const side = margin + offset + row * (acrossSize + gapAcross);
      const type = types.get(name) ?? 'end';
      return isVertical ? { name, type, x: side, y: along } : { name, type, x: along, y: side };
    }),
  );
  const places = new Map(nodes.map((node) => [node.name, node]));
  const extent = margin * 2 + ordered.length * (alongSize + gapAlong) - gapAlong;
  const breadth = margin * 2 + across * (acrossSize + gapAcross) - gapAcross + (hasBack ? backLane : 0);
  const edges = states.flatMap((state) =>
    state.next.flatMap((to): FlowEdge[] => {
      const [source, target] = [places.get(state.name), places.get(to)];
      if (!source || !target) return [];
      const isBack = back.has(`${state.name}\n${to}`);
      return [{ from: state.name, to, isBack, path: curve(source, target, isBack, isVertical, breadth) }];
    }),
  );
  return isVertical
    ? { nodes, edges, width: breadth, height: extent }
    : { nodes, edges, width: extent, height: breadth };
};

/** The transitions that close a circle in a search from the first state. */
const backEdges = (names: readonly string[], next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const back = new Set<string>();
  const done = new Set<string>();
  const path = new Set<string>();
  for (const root of names) {
    const work: { name: string; rest: string[] }[] = [];
    const enter = (name: string): void => {
      path.add(name);
      work.push({ name, rest: [...(next.get(name) ?? [])] });
    };
    if (!done.has(root)) enter(root);
    while (work.length > 0) {
      const { name, rest } = work.at(-1) as { name: string; rest: string[] };
      const to = rest.shift();
      if (to === undefined) {
        work.pop();
        path.delete(name);
        done.add(name);
      } else if (path.has(to)) back.add(`${name}\n${to}`);
      else if (!done.has(to) && next.has(to)) enter(to);
    }
  }
  return back;
};

/** The layer of a state is the length of the longest way to it. */
const layersOf = (
  names: readonly string[],
  next: ReadonlyMap<string, readonly string[]>,
  back: ReadonlySet<string>,
): readonly (readonly string[])[] => {
  const layer = new Map(names.map((name) => [name, 0]));
  for (let round = 0; round < names.length; round += 1) {
    let isChanged = false;
    for (const name of names) {
      for (const to of next.get(name) ?? []) {
        const least = (layer.get(name) ?? 0) + 1;
        if (back.has(`${name}\n${to}`) || !layer.has(to) || (layer.get(to) ?? 0) >= least) continue;
        layer.set(to, least);
        isChanged = true;
      }
    }
    if (!isChanged) break;
  }
  const layers: string[][] = [];
  for (const name of names) (layers[layer.get(name) ?? 0] ??= []).push(name);
  return Array.from(layers, (each) => each ?? []).filter((each) => each.length > 0);
};

/** Places each state near the middle of those that lead to it, so that fewer transitions cross. */
const orderLayers = (
  layers: readonly (readonly string[])[],
  next: ReadonlyMap<string, readonly string[]>,
  back: ReadonlySet<string>,
): readonly (readonly string[])[] => {
  const row = new Map<string, number>();
  return layers.map((layer) => {
    const middle = (name: string, fallback: number): number => {
      const sources = [...next].filter(([from, to]) => to.includes(name) && !back.has(`${from}\n${name}`));
      const rows = sources.map(([from]) => row.get(from)).filter((each) => each !== undefined);
      return rows.length === 0 ? fallback : rows.reduce((sum, each) => sum + each, 0) / rows.length;
    };
    const ordered = layer
      .map((name, index) => ({ name, place: middle(name, index) }))
      .toSorted((left, right) => left.place - right.place)
      .map(({ name }) => name);
    for (const [index, name] of ordered.entries()) row.set(name, index);
    return ordered;
  });
};

const curve = (source: FlowNode, target: FlowNode, isBack: boolean, isVertical: boolean, breadth: number): string => {
  const middle = ({ x, y }: FlowNode): [number, number] => [x + nodeWidth / 2, y + nodeHeight / 2];
  if (isBack) {
    // A way back runs beside the states, so that it does not cross them.
    const lane = breadth - margin / 2;
    const [[sx, sy], [tx, ty]] = [middle(source), middle(target)];
    if (isVertical) {
      const [left, right] = [source.x + nodeWidth, target.x + nodeWidth];
      return `M${left},${sy} C${lane + 8},${sy} ${lane + 8},${ty} ${right},${ty}`;
    }
    const [low, high] = [source.y + nodeHeight, target.y + nodeHeight];
    return `M${sx},${low} C${sx},${lane + 8} ${tx},${lane + 8} ${tx},${high}`;
  }
  const [sx, sy] = isVertical
    ? [source.x + nodeWidth / 2, source.y + nodeHeight]
    : [source.x + nodeWidth, source.y + nodeHeight / 2];
  const [tx, ty] = isVertical ? [target.x + nodeWidth / 2, target.y] : [target.x, target.y + nodeHeight / 2];
  return isVertical
    ? `M${sx},${sy} C${sx},${(sy + ty) / 2} ${tx},${(sy + ty) / 2} ${tx},${ty}`
    : `M${sx},${sy} C${(sx + tx) / 2},${sy} ${(sx + tx) / 2},${ty} ${tx},${ty}`;
};

/** The status of each state in a run: that of its latest step. */
export const statusesOf = (run: StationRun | undefined): ReadonlyMap<string, FlowStatus> => {
  const statuses = new Map<string, FlowStatus>();
  for (const step of run?.steps ?? []) statuses.set(step.state, step.status);
  if (run?.state === 'completed') statuses.set(endState, 'completed');
  return statuses;
};

/** The transitions that a run has taken: a step of the target began when or after one of the source had ended. */
export const takenEdges = (run: StationRun | undefined, edges: FlowGraph['edges']): ReadonlySet<string> => {
  const steps = run?.steps ?? [];
  const taken = new Set<string>();
  for (const { from, to } of edges) {
    const ends = steps.filter(({ state, status }) => state === from && status === 'completed');
    const isTaken =
      to === endState
        ? run?.state === 'completed' && steps.at(-1)?.state === from
        : ends.some(({ endedAt }) =>
            steps.some(({ state, startedAt }) => state === to && endedAt !== null && startedAt >= endedAt),
          );
    if (isTaken) taken.add(`${from}\n${to}`);
  }
  return taken;
};
