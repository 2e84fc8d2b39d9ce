import type { JSONObject, SystemBlock, ToolDefinition, TurnEventOf, UserMessage } from '@h/turn';
import { mayUse, type Role } from '../roles.js';

type Request = TurnEventOf<'model.request'>;

const annotationName = 'continuity';

/** Returns the name of the role for which a request was shaped. */
export const roleIn = (annotations: Request['annotations']): unknown => {
  const own = annotations?.[annotationName];
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? (own as JSONObject)['role'] : undefined;
};

/**
 * Adds role and state to requests: the role to the cached system prompt, the state behind everything that is cached.
 */
export const requestShaper = (): ((request: Request, role: Role, state: UserMessage) => Request) => {
  let last:
    | { readonly role: Role; readonly given: readonly ToolDefinition[]; readonly tools: readonly ToolDefinition[] }
    | undefined;
  const toolsFor = (role: Role, given: readonly ToolDefinition[]): readonly ToolDefinition[] => {
    if (last?.role === role && last.given === given) return last.tools;
    const allowed = given.filter(({ name }) => mayUse(role, name));
    last = { role, given, tools: allowed.length === given.length ? given : allowed };
    return last.tools;
  };
  return (request, role, state) => ({
    ...request,
    system: withBlock(request.system, role.instructions),
    tools: toolsFor(role, request.tools),
    tail: [...request.tail, state],
    annotations: { ...request.annotations, [annotationName]: { role: role.name } satisfies JSONObject },
  });
};

/** Adds a block and moves the cache mark of the last one to it. */
const withBlock = (system: readonly SystemBlock[], text: string): readonly SystemBlock[] => {
  if (text === '') return system;
  const last = system.at(-1);
  if (last?.cache === undefined) return [...system, { text }];
  return [...system.slice(0, -1), { text: last.text }, { text, cache: last.cache }];
};
