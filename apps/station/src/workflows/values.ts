import type { JSONValue } from '@h/turn';
import type { Condition, WorkflowState } from './schema.js';

/** The input of a run and the latest output of each state, by name. */
export type RunValues = Readonly<Record<string, JSONValue>>;

const placeholder = /\{\{\s*([\w.-]{1,200})\s*\}\}/g;

/** The paths that a text inserts. */
export const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(placeholder)].map(([, path = '']) => path);

/** Inserts values into a text. A value that does not exist is an empty text, and objects are JSON. */
export const render = (text: string, values: RunValues): string =>
  text.replaceAll(placeholder, (_, path: string) => {
    const value = valueAt(path, values);
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });

/** The value at a path, such as `review.verdict`. */
export const valueAt = (path: string, values: RunValues): JSONValue | undefined => {
  let value: JSONValue | undefined = values;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, JSONValue>>)[key];
  }
  return value;
};

const holds = (condition: Condition, values: RunValues): boolean => {
  const value = valueAt(condition.value, values);
  if (condition.exists !== undefined) return (value !== undefined && value !== null) === condition.exists;
  if (condition.equals !== undefined) return value === condition.equals;
  if (condition.not_equals !== undefined) return value !== condition.not_equals;
  if (condition.above !== undefined) return typeof value === 'number' && value > condition.above;
  if (condition.below !== undefined) return typeof value === 'number' && value < condition.below;
  const part = condition.contains ?? '';
  if (Array.isArray(value)) return value.includes(part);
  return typeof value === 'string' && value.toLowerCase().includes(part.toLowerCase());
};

/** The state that follows; `undefined` if no choice applies. */
export const nextState = ({ transition }: WorkflowState, values: RunValues): string | undefined =>
  typeof transition === 'string'
    ? transition
    : transition.find(({ when }) => when === undefined || holds(when, values))?.to;
