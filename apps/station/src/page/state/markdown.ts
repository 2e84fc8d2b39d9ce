import { parseInline, type Inline } from './markdown-inline.js';

export type Align = 'left' | 'center' | 'right' | null;

export type Block =
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'list'; readonly start: number | null; readonly items: readonly (readonly Block[])[] }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'rule' }
  | {
      readonly type: 'table';
      readonly align: readonly Align[];
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    };

const maxDepth = 10;
const maxColumns = 40;

/**
 * Parses the Markdown of models into a tree that components render as elements, so that no text ever becomes markup.
 * Covers what models write: headings, lists, code, quotes, tables, emphasis and links. Runs in linear time.
 */
export const parseMarkdown = (text: string): readonly Block[] => blocksOf(text.replaceAll('\r\n', '\n').split('\n'), 0);

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/u;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/u;
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/u;
const item = /^( {0,8})([-*+]|\d{1,9}[.)])(?:[ \t]+|$)/u;
const quote = /^ {0,3}> ?/u;

const isBlank = (line: string): boolean => line.trim() === '';
const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Whether a line ends the paragraph before it. */
const interrupts = (line: string): boolean =>
  fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line) || item.test(line);

const blocksOf = (lines: readonly string[], depth: number): readonly Block[] => {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (isBlank(line)) {
      at += 1;
      continue;
    }
    const opening = fence.exec(line);
    if (opening) {
      const [end, block] = codeBlock(lines, at, opening);
      blocks.push(block);
      at = end;
      continue;
    }
    const title = heading.exec(line);
    if (title) {
      const words = (title[2] ?? '').replace(/[ \t]#{1,6}[ \t]*$/u, '');
      blocks.push({ type: 'heading', level: title[1]?.length ?? 1, children: parseInline(words.trim()) });
      at += 1;
      continue;
    }
    if (rule.test(line)) {
      blocks.push({ type: 'rule' });
      at += 1;
      continue;
    }
    if (depth < maxDepth && quote.test(line)) {
      let end = at;
      while (end < lines.length && quote.test(lines[end] ?? '')) end += 1;
      const inner = lines.slice(at, end).map((each) => each.replace(quote, ''));
      blocks.push({ type: 'quote', blocks: blocksOf(inner, depth + 1) });
      at = end;
      continue;
    }
    if (depth < maxDepth && item.test(line)) {
      const [end, block] = listBlock(lines, at, depth);
      blocks.push(block);
      at = end;
      continue;
    }
    const table = tableAt(lines, at);
    if (table) {
      blocks.push(table[1]);
      at = table[0];
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !isBlank(lines[end] ?? '') && !interrupts(lines[end] ?? '')) end += 1;
    blocks.push({
      type: 'paragraph',
      children: parseInline(
        lines
          .slice(at, end)
          .map((each) => each.trimStart())
          .join('\n'),
      ),
    });
    at = end;
  }
  return blocks;
};

const codeBlock = (lines: readonly string[], start: number, opening: RegExpExecArray): [number, Block] => {
  const mark = opening[1] ?? '```';
  const closing = new RegExp(`^ {0,3}${mark[0] === '~' ? '~' : '`'}{${mark.length},}\\s*$`, 'u');
  const indent = indentOf(lines[start] ?? '');
  let end = start + 1;
  while (end < lines.length && !closing.test(lines[end] ?? '')) end += 1;
  const body = lines.slice(start + 1, end).map((line) => line.slice(Math.min(indent, indentOf(line))));
  return [Math.min(end + 1, lines.length), { type: 'code', language: opening[2] ?? '', text: body.join('\n') }];
};

const listBlock = (lines: readonly string[], start: number, depth: number): [number, Block] => {
  const first = item.exec(lines[start] ?? '');
  const isOrdered = /\d/u.test(first?.[2] ?? '');
  const base = first?.[1]?.length ?? 0;
  const items: (readonly Block[])[] = [];
  let at = start;
  while (at < lines.length) {
    const opening = item.exec(lines[at] ?? '');
    if (!opening || (opening[1]?.length ?? 0) > base + 3 || /\d/u.test(opening[2] ?? '') !== isOrdered) break;
    if ((opening[1]?.length ?? 0) < base || rule.test(lines[at] ?? '')) break;
    const content = Math.min(opening[0].length, (opening[1]?.length ?? 0) + (opening[2]?.length ?? 1) + 4);
    const inner = [(lines[at] ?? '').slice(content)];
    let end = at + 1;
    while (end < lines.length) {
      const line = lines[end] ?? '';
      const indent = indentOf(line);
      if (isBlank(line)) {
        const next = lines[end + 1] ?? '';
        if (isBlank(next) || indentOf(next) < base + 2) break;
      } else if (indent < base + 2 && interrupts(line)) break;
      inner.push(line.slice(Math.min(indent, content)));
      end += 1;
    }
    items.push(blocksOf(inner, depth + 1));
    while (end < lines.length && isBlank(lines[end] ?? '') && item.test(lines[end + 1] ?? '')) end += 1;
    at = end;
  }
  return [at, { type: 'list', start: isOrdered ? Number.parseInt(first?.[2] ?? '1', 10) : null, items }];
};

const delimiterCell = /^\s*:?-+:?\s*$/u;

const tableAt = (lines: readonly string[], start: number): [number, Block] | undefined => {
  const header = lines[start] ?? '';
  const delimiter = lines[start + 1] ?? '';
  if (!header.includes('|') || !delimiter.includes('-') || !/^[\s:|-]+$/u.test(delimiter)) return undefined;
  const columns = cellsOf(delimiter);
  const titles = cellsOf(header);
  if (columns.length !== titles.length || columns.length > maxColumns) return undefined;
  if (!columns.every((cell) => delimiterCell.test(cell))) return undefined;
  const align = columns.map((cell): Align => {
    const [left, right] = [cell.trim().startsWith(':'), cell.trim().endsWith(':')];
    return left && right ? 'center' : right ? 'right' : left ? 'left' : null;
  });
  let end = start + 2;
  const rows: (readonly Inline[])[][] = [];
  while (end < lines.length && (lines[end] ?? '').includes('|') && !isBlank(lines[end] ?? '')) {
    const cells = cellsOf(lines[end] ?? '');
    rows.push(titles.map((_, column) => parseInline((cells[column] ?? '').trim())));
    end += 1;
  }
  return [end, { type: 'table', align, head: titles.map((cell) => parseInline(cell.trim())), rows }];
};

const cellsOf = (line: string): string[] => {
  const cells: string[] = [];
  let cell = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (character === '\\' && line[at + 1] === '|') {
      cell += '|';
      at += 1;
    } else if (character === '|') {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  cells.push(cell);
  if (cells.length > 1 && isBlank(cells[0] ?? '')) cells.shift();
  if (cells.length > 1 && isBlank(cells.at(-1) ?? '')) cells.pop();
  return cells;
};
