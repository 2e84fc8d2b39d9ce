import { createHash } from 'node:crypto';
import { checkValue, type OptionCheck } from '@h/options';

const maxLength = 64;
const hashLength = 8;

/**
 * Rejects server names that make tool names ambiguous: `__` separates the server from its tool, so that no server can
 * imitate a tool of another.
 */
export const checkServerName = (name: unknown): void => {
  checkValue('connectMcp()', 'name', name, serverName);
};

const serverName: OptionCheck = {
  expected: '1 to 24 letters, digits, "-" and single "_", starting with a letter or digit',
  accepts: (name) => typeof name === 'string' && /^[a-zA-Z0-9](?:[a-zA-Z0-9-]|_(?!_|$)){0,23}$/.test(name),
};

/**
 * Returns the names under which the tools of a server are registered: `mcp__<server>__<tool>`.
 *
 * A name gets a hash of the original name if providers would reject it, if it is too long, or if it differs from
 * another name of the server only in case. Names are therefore unique and do not depend on the order of the tools.
 */
export const qualifiedNames = (server: string, tools: readonly string[]): ReadonlyMap<string, string> => {
  const prefix = `mcp__${server}__`;
  const plain = new Map(tools.map((tool) => [tool, tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_')]));
  const counts = new Map<string, number>();
  for (const tool of tools) counts.set(tool.toLowerCase(), (counts.get(tool.toLowerCase()) ?? 0) + 1);
  return new Map(
    [...plain].map(([tool, name]) => {
      const isClear =
        name === tool &&
        name.length > 0 &&
        prefix.length + name.length <= maxLength &&
        counts.get(name.toLowerCase()) === 1;
      return [tool, `${prefix}${isClear ? name : hashed(tool, name, maxLength - prefix.length)}`];
    }),
  );
};

const hashed = (tool: string, name: string, room: number): string =>
  `${name.slice(0, room - hashLength - 1)}_${createHash('sha256').update(tool).digest('hex').slice(0, hashLength)}`;
