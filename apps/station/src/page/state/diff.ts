/** Finds changes of files in the input and the output of tool calls, so that they are shown as diffs. */

export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'gap';
  readonly text: string;
}
export interface FileDiff {
  readonly path: string;
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

/** Above this product of line counts, a change is shown as all lines removed and all added. */
const maxTable = 1_000_000;
const contextLines = 3;

const fileDiff = (path: string, lines: readonly DiffLine[]): FileDiff => ({
  path,
  lines,
  added: lines.filter(({ kind }) => kind === 'added').length,
  removed: lines.filter(({ kind }) => kind === 'removed').length,
});

/** Reads a unified diff; `undefined` if the text is not one. Text before the first file is dropped. */
export const parseUnifiedDiff = (text: string): readonly FileDiff[] | undefined => {
  if (!/^@@ -\d/mu.test(text) || !/^(?:--- |diff --git )/mu.test(text)) return undefined;
  const files: FileDiff[] = [];
  let path = '';
  let lines: DiffLine[] = [];
  let isInHunk = false;
  const finish = (): void => {
    if (lines.length > 0) files.push(fileDiff(path, lines));
    lines = [];
    isInHunk = false;
  };
  for (const line of text.split('\n')) {
    if (line.startsWith('diff --git ')) {
      finish();
      path = /^diff --git a\/(.{1,1000}) b\//u.exec(line)?.[1] ?? path;
    } else if (!isInHunk && line.startsWith('--- ')) path = pathOf(line, path);
    else if (!isInHunk && line.startsWith('+++ ')) path = pathOf(line, path);
    else if (line.startsWith('--- ') && lines.at(-1)?.kind !== 'removed' && /^--- (?:a\/|\/dev\/null)/u.test(line)) {
      finish();
      path = pathOf(line, path);
    } else if (line.startsWith('@@ ')) {
      if (lines.length > 0) lines.push({ kind: 'gap', text: line });
      isInHunk = true;
    } else if (isInHunk) {
      const mark = line[0];
      if (mark === '+') lines.push({ kind: 'added', text: line.slice(1) });
      else if (mark === '-') lines.push({ kind: 'removed', text: line.slice(1) });
      else if (mark === ' ') lines.push({ kind: 'same', text: line.slice(1) });
    }
  }
  finish();
  return files.length > 0 ? files : undefined;
};

const pathOf = (line: string, before: string): string => {
  const path = line.slice(4).replace(/\t.*$/u, '').trim();
  return path === '/dev/null' ? before : path.replace(/^[ab]\//u, '');
};

const members = {
  path: ['path', 'file_path', 'filePath', 'file', 'filename'],
  before: ['old_string', 'oldText', 'old_str', 'oldString', 'old', 'search'],
  after: ['new_string', 'newText', 'new_str', 'newString', 'new', 'replace'],
  content: ['content', 'file_text', 'contents'],
} as const;

const textMember = (
  input: Readonly<Record<string, unknown>>,
  names: readonly string[],
): { readonly name: string; readonly text: string } | undefined => {
  for (const name of names) {
    const text = input[name];
    if (typeof text === 'string') return { name, text };
  }
  return undefined;
};
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A change, and the members of the input that it shows in full: all others must be shown beside it. */
export interface InputDiff {
  readonly diff: FileDiff;
  readonly members: readonly string[];
}

/** The change that the input of an edit or write tool describes; `undefined` for other inputs. */
export const diffOfInput = (input: unknown): InputDiff | undefined => {
  if (!isRecord(input)) return undefined;
  const path = textMember(input, members.path);
  if (!path) return undefined;
  if (Array.isArray(input['edits'])) {
    const edits = input['edits'].map((edit: unknown) => (isRecord(edit) ? editOf(edit) : undefined));
    // An edit with further members, such as `all: true`, is not shown in full by its lines.
    if (!edits.every((edit) => edit?.isWhole)) return undefined;
    const lines = edits.flatMap((edit, index): readonly DiffLine[] => [
      ...(index > 0 ? [{ kind: 'gap' as const, text: '' }] : []),
      ...(edit?.lines ?? []),
    ]);
    return { diff: fileDiff(path.text, lines), members: [path.name, 'edits'] };
  }
  const edit = editOf(input);
  if (edit) return { diff: fileDiff(path.text, edit.lines), members: [path.name, ...edit.members] };
  const content = textMember(input, members.content);
  return content && { diff: fileDiff(path.text, linesOf(content.text, 'added')), members: [path.name, content.name] };
};

const editOf = (input: Readonly<Record<string, unknown>>) => {
  const before = textMember(input, members.before);
  const after = textMember(input, members.after);
  if (!before || !after) return undefined;
  return {
    lines: diffLines(before.text, after.text),
    members: [before.name, after.name],
    isWhole: Object.keys(input).length === 2,
  };
};

const linesOf = (text: string, kind: DiffLine['kind']): DiffLine[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/u, '')
        .split('\n')
        .map((line) => ({ kind, text: line }));

/** The lines of two texts: common ones, removed ones before added ones. Long common spans become a gap. */
export const diffLines = (before: string, after: string): readonly DiffLine[] => {
  const [left, right] = [linesOf(before, 'removed'), linesOf(after, 'added')];
  let start = 0;
  while (start < left.length && start < right.length && left[start]?.text === right[start]?.text) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end]?.text === right[right.length - 1 - end]?.text
  ) {
    end += 1;
  }
  const same = (lines: readonly DiffLine[]): DiffLine[] => lines.map(({ text }) => ({ kind: 'same', text }));
  const middle = longestCommon(left.slice(start, left.length - end), right.slice(start, right.length - end));
  const lead = same(left.slice(0, start));
  const trail = same(left.slice(left.length - end));
  const gap = (hidden: number): DiffLine[] => (hidden > 0 ? [{ kind: 'gap', text: `${hidden} unchanged lines` }] : []);
  return [
    ...gap(lead.length - contextLines),
    ...lead.slice(-contextLines),
    ...middle,
    ...trail.slice(0, contextLines),
    ...gap(trail.length - contextLines),
  ];
};

const longestCommon = (left: readonly DiffLine[], right: readonly DiffLine[]): readonly DiffLine[] => {
  if (left.length * right.length > maxTable || left.length === 0 || right.length === 0) return [...left, ...right];
  const width = right.length + 1;
  const table = new Uint32Array((left.length + 1) * width);
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      table[row * width + column] =
        left[row]?.text === right[column]?.text
          ? (table[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(table[(row + 1) * width + column] ?? 0, table[row * width + column + 1] ?? 0);
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [from, to] = [left[row], right[column]];
    if (from && to && from.text === to.text) {
      lines.push({ kind: 'same', text: from.text });
      row += 1;
      column += 1;
    } else if (from && (!to || (table[(row + 1) * width + column] ?? 0) >= (table[row * width + column + 1] ?? 0))) {
      lines.push(from);
      row += 1;
    } else if (to) {
      lines.push(to);
      column += 1;
    }
  }
  return lines;
};
