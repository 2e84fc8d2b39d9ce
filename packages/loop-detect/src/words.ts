/** The words of a tool's name: `mcp__github__create_issue`, `createIssue` and `create-issue` have `create` and `issue` in common. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .slice(0, 200)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

/** The value of a member of an input that is a text; `undefined` for all else. */
export const textMember = (input: unknown, name: string): string | undefined => {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, name)) return undefined;
  const member: unknown = input[name as keyof typeof input];
  return typeof member === 'string' ? member : undefined;
};
