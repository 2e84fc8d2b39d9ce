/**
 * Returns the words of a tool name: `mcp__github__create_issue`, `createIssue` and `create-issue` contain `create` and
 * `issue`.
 */
export const wordsOf = (name: string): readonly string[] => (/^[a-z\d]{1,200}$/.test(name) ? [name] : splitName(name));

const splitName = (name: string): readonly string[] =>
  name
    .slice(0, 200)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

/** Returns a string member of an input; `undefined` for any other value. */
export const textMember = (input: unknown, name: string): string | undefined => {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, name)) return undefined;
  const member: unknown = input[name as keyof typeof input];
  return typeof member === 'string' ? member : undefined;
};
