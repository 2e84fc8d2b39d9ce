/**
 * Parses the Markdown of models into a tree that components render as elements, so that no text ever becomes markup.
 * Covers what models write: headings, lists, code, quotes, tables, emphasis and links. Runs in linear time.
 */

export type Inline =
  | string
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'break' };

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
const maxUrlLength = 2000;
const maxColumns = 40;

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

interface Open {
  /** The delimiter as written, which is shown if it is never closed. */
  readonly mark: string;
  readonly children: Inline[];
}

const kindOf: Readonly<Record<string, 'strong' | 'emphasis' | 'strike'>> = {
  '**': 'strong',
  __: 'strong',
  '*': 'emphasis',
  _: 'emphasis',
  '~~': 'strike',
};
const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}_]/u.test(character);
const isSpace = (character: string | undefined): boolean => character === undefined || /\s/u.test(character);
const bareUrl = /https?:\/\/[^\s<>"'`\])]{1,2000}/uy;
const escapable = /[!-/:-@[-`{-~]/u;

export const parseInline = (text: string): readonly Inline[] => {
  const stack: Open[] = [{ mark: '', children: [] }];
  const runs = backtickRuns(text);
  const top = (): Open => stack.at(-1) as Open;
  const add = (node: Inline): void => {
    const { children } = top();
    const last = children.at(-1);
    if (typeof node === 'string' && typeof last === 'string') children[children.length - 1] = last + node;
    else if (node !== '') children.push(node);
  };
  /** Turns delimiters above `depth` that were not closed into text. */
  const unwind = (depth: number): void => {
    while (stack.length > depth + 1) {
      const { mark, children } = stack.pop() as Open;
      add(mark);
      for (const child of children) add(child);
    }
  };
  const opened = (mark: string): number => stack.findLastIndex((open) => open.mark === mark);
  let at = 0;
  let plain = 0;
  const flush = (): void => {
    if (plain < at) add(text.slice(plain, at));
  };
  while (at < text.length) {
    const character = text[at] ?? '';
    let length = 0;
    if (character === '\\' && escapable.test(text[at + 1] ?? '')) {
      flush();
      add(text[at + 1] ?? '');
      length = 2;
    } else if (character === '\n') {
      flush();
      add({ type: 'break' });
      length = 1;
    } else if (character === '`') {
      flush();
      const run = runs.lengthAt(at);
      const close = runs.next(at + run, run);
      if (close < 0) {
        add(text.slice(at, at + run));
        length = run;
      } else {
        const code = text.slice(at + run, close).replaceAll('\n', ' ');
        add({ type: 'code', text: /^ .*[^ ].* $/u.test(code) ? code.slice(1, -1) : code });
        length = close + run - at;
      }
    } else if (character === '*' || character === '_' || (character === '~' && text[at + 1] === '~')) {
      // In `***`, the innermost delimiter closes first.
      const isInner = top().mark === character && text[at + 2] === character;
      const mark = text[at + 1] === character && !isInner ? character + character : character;
      const [before, after] = [text[at - 1], text[at + mark.length]];
      const depth = opened(mark);
      const splitsWord = character === '_' && isWord(before) && isWord(after);
      if (!splitsWord && depth > 0 && !isSpace(before)) {
        flush();
        unwind(depth);
        const { children } = stack.pop() as Open;
        add({ type: kindOf[mark] ?? 'emphasis', children });
        length = mark.length;
      } else if (!splitsWord && !isSpace(after) && stack.length <= maxDepth && !(character === '_' && isWord(before))) {
        flush();
        stack.push({ mark, children: [] });
        length = mark.length;
      }
    } else if (character === '[' || (character === '!' && text[at + 1] === '[')) {
      if (stack.length <= maxDepth) {
        flush();
        length = character === '!' ? 2 : 1;
        stack.push({ mark: text.slice(at, at + length), children: [] });
      }
    } else if (character === ']') {
      const depth = Math.max(opened('['), opened('!['));
      const target = depth > 0 && text[at + 1] === '(' ? urlAt(text, at + 2) : undefined;
      if (target) {
        flush();
        unwind(depth);
        const { children } = stack.pop() as Open;
        const href = safeUrl(target.url);
        if (href) add({ type: 'link', href, children: linkText(children, href) });
        else for (const child of children) add(child);
        length = target.end - at;
      } else if (depth > 0) {
        flush();
        plain = at;
        unwind(depth - 1);
      }
    } else if (character === 'h' && !isWord(text[at - 1])) {
      bareUrl.lastIndex = at;
      const url = bareUrl.exec(text)?.[0].replace(/[.,;:!?*_~]+$/u, '');
      const href = url ? safeUrl(url) : undefined;
      if (url && href) {
        flush();
        add({ type: 'link', href, children: [url] });
        length = url.length;
      }
    }
    if (length > 0) {
      at += length;
      plain = at;
    } else at += 1;
  }
  flush();
  unwind(0);
  return top().children;
};

/** Finds the run of backticks that closes another one without scanning the text again for each. */
const backtickRuns = (text: string) => {
  const starts = new Map<number, number[]>();
  const cursors = new Map<number, number>();
  for (const { 0: run, index } of text.matchAll(/`+/gu)) {
    const list = starts.get(run.length);
    if (list) list.push(index);
    else starts.set(run.length, [index]);
  }
  return {
    lengthAt(at: number): number {
      let end = at;
      while (text[end] === '`') end += 1;
      return end - at;
    },
    next(from: number, length: number): number {
      const list = starts.get(length) ?? [];
      let cursor = cursors.get(length) ?? 0;
      while (cursor < list.length && (list[cursor] ?? 0) < from) cursor += 1;
      cursors.set(length, cursor);
      return list[cursor] ?? -1;
    },
  };
};

/** Reads the target of a link up to its closing parenthesis; parentheses inside it may be nested once. */
const urlAt = (text: string, start: number): { readonly url: string; readonly end: number } | undefined => {
  let depth = 0;
  const limit = Math.min(text.length, start + maxUrlLength);
  for (let at = start; at < limit; at += 1) {
    const character = text[at] ?? '';
    if (character === '(') depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (character === ')') return { url: text.slice(start, at).replace(/\s+"[^"]*"$/u, ''), end: at + 1 };
    else if (character === '\n' || character === ']' || depth > 1) return undefined;
  }
  return undefined;
};

const shownHost = /^\s*(?:https?:\/\/|(?=www\.))(?:[^/\s]*@)?([^/\s:?#]+)/iu;
const plainHost = (host: string): string => host.toLowerCase().replace(/^www\./u, '');

/** What a link shows: its text, and where it leads if the text is the address of another host. */
const linkText = (children: readonly Inline[], href: string): readonly Inline[] => {
  if (children.length === 0) return [href];
  const { hostname, pathname } = new URL(href);
  const shown = shownHost.exec(textOf(children))?.[1];
  if (shown === undefined || plainHost(shown) === plainHost(hostname)) return children;
  return [...children, ` (${hostname || pathname})`];
};

const textOf = (nodes: readonly Inline[]): string =>
  nodes
    .map((node) =>
      typeof node === 'string' ? node : 'children' in node ? textOf(node.children) : 'text' in node ? node.text : ' ',
    )
    .join('');

/** The address of a link that is safe to follow; `undefined` for every scheme but http, https and mailto. */
export const safeUrl = (url: string): string | undefined => {
  if (!URL.canParse(url.trim())) return undefined;
  const { protocol, href } = new URL(url.trim());
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
};
