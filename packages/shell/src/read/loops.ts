import { forEachChild, type SyntaxNode } from 'unbash';

/** Maximum number of nodes in which a command is searched. */
const maxNodes = 1_000;

/** Returns whether a part of a script contains a command. */
export const hasCommand = (part: SyntaxNode, name: string): boolean => {
  let left = maxNodes;
  const search = (node: SyntaxNode): boolean => {
    left -= 1;
    if (left < 0) return false;
    let isFound = node.type === 'Command' && node.name?.value === name;
    forEachChild(node, (child) => {
      isFound ||= search(child);
    });
    return isFound;
  };
  return search(part);
};

/** Returns whether a loop never ends or pauses, and starts processes in the background or appends to a file. */
export const isEndlessLoop = (clause: SyntaxNode, body: SyntaxNode): boolean => {
  const names: string[] = [];
  let grows = false;
  const visit = (node: SyntaxNode): void => {
    if (names.length > 100) return;
    if (node.type === 'Statement' && node.background === true) {
      // The loop does not wait for it.
      grows = true;
      return;
    }
    if (node.type === 'Subshell' && node.body.commands.some(({ background }) => background === true)) {
      grows = true;
      return;
    }
    if (node.type === 'Command') names.push(node.name?.value ?? '');
    if (node.type === 'Command' || node.type === 'Redirected') {
      grows ||= node.redirects.some((redirect) => redirect.operator === '>>' && redirect.target?.value !== '/dev/null');
      grows ||= node.type === 'Command' && /^(?:cp|mkdir|touch|mktemp|fallocate|dd)$/.test(node.name?.value ?? '');
    }
    forEachChild(node, visit);
  };
  visit(clause);
  if (names.length !== 1 || !/^(?:true|:)$/.test(names[0] ?? '')) return false;
  visit(body);
  return (
    grows &&
    !names.some((name) => /^(?:sleep|wait|read|break|exit|return|timeout|inotifywait|tail|nc|date|usleep)$/.test(name))
  );
};

/** Returns whether a function starts itself in the background, or twice in one pipe. */
export const isBomb = (name: string, body: SyntaxNode): boolean => {
  let left = 1_000;
  const callsIn = (node: SyntaxNode): number => {
    left -= 1;
    if (left < 0) return 0;
    let calls = node.type === 'Command' && node.name?.value === name ? 1 : 0;
    forEachChild(node, (child) => {
      calls += callsIn(child);
    });
    return calls;
  };
  const starts = (node: SyntaxNode): boolean => {
    if (left < 0) return false;
    if (node.type === 'Statement' && node.background === true && callsIn(node) > 0) return true;
    if (node.type === 'Pipeline' && node.commands.length > 1 && callsIn(node) > 1) return true;
    let found = false;
    forEachChild(node, (child) => {
      found ||= starts(child);
    });
    return found;
  };
  return starts(body);
};
