export type Inline =
  | string
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'break' };

const maxDepth = 10;
const maxUrlLength = 2000;

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

/** Reads the emphasis, code and links of a paragraph, a heading or a cell. */
export const parseInline = (text: string): readonly Inline[] => new InlineReader(text).read();

class InlineReader {
  readonly #text: string;
  readonly #runs: ReturnType<typeof backtickRuns>;
  /** Delimiters that are not closed yet, below them the result. */
  readonly #stack: Open[] = [{ mark: '', children: [] }];
  #at = 0;
  /** Where the text begins that has not been added. */
  #plain = 0;

  constructor(text: string) {
    this.#text = text;
    this.#runs = backtickRuns(text);
  }

  read(): readonly Inline[] {
    while (this.#at < this.#text.length) {
      const length = this.#element();
      this.#at += Math.max(length, 1);
      if (length > 0) this.#plain = this.#at;
    }
    this.#flush();
    this.#unwind(0);
    return this.#top.children;
  }

  /** Reads an element. @returns its length, or 0 if the character is text */
  #element(): number {
    const character = this.#text[this.#at] ?? '';
    const next = this.#text[this.#at + 1] ?? '';
    switch (character) {
      case '\\':
        return escapable.test(next) ? this.#put(next, 2) : 0;
      case '\n':
        return this.#put({ type: 'break' }, 1);
      case '`':
        return this.#code();
      case '*':
      case '_':
        return this.#emphasis(character);
      case '~':
        return next === '~' ? this.#emphasis(character) : 0;
      case '[':
        return this.#open(character);
      case '!':
        return next === '[' ? this.#open('![') : 0;
      case ']':
        return this.#closeLink();
      case 'h':
        return this.#bareLink();
      default:
        return 0;
    }
  }

  #code(): number {
    const run = this.#runs.lengthAt(this.#at);
    const start = this.#at + run;
    const close = this.#runs.next(start, run);
    if (close < 0) return this.#put(this.#text.slice(this.#at, start), run);
    const code = this.#text.slice(start, close).replaceAll('\n', ' ');
    const text = /^ .*[^ ].* $/u.test(code) ? code.slice(1, -1) : code;
    return this.#put({ type: 'code', text }, close + run - this.#at);
  }

  #emphasis(character: string): number {
    const [text, at] = [this.#text, this.#at];
    // In `***`, the innermost delimiter closes first.
    const isInner = this.#top.mark === character && text[at + 2] === character;
    const mark = text[at + 1] === character && !isInner ? character + character : character;
    const [before, after] = [text[at - 1], text[at + mark.length]];
    const isBehindWord = character === '_' && isWord(before);
    if (isBehindWord && isWord(after)) return 0;
    const depth = this.#depthOf(mark);
    if (depth > 0 && !isSpace(before)) {
      return this.#put({ type: kindOf[mark] ?? 'emphasis', children: this.#close(depth) }, mark.length);
    }
    return isSpace(after) || isBehindWord ? 0 : this.#open(mark);
  }

  #closeLink(): number {
    const depth = Math.max(this.#depthOf('['), this.#depthOf('!['));
    if (depth <= 0) return 0;
    const target = this.#text[this.#at + 1] === '(' ? urlAt(this.#text, this.#at + 2) : undefined;
    if (!target) {
      this.#flush();
      this.#unwind(depth - 1);
      return 0;
    }
    const children = this.#close(depth);
    const href = safeUrl(target.url);
    if (href) this.#add({ type: 'link', href, children: linkText(children, href) });
    else for (const child of children) this.#add(child);
    return target.end - this.#at;
  }

  #bareLink(): number {
    if (isWord(this.#text[this.#at - 1])) return 0;
    bareUrl.lastIndex = this.#at;
    const url = bareUrl.exec(this.#text)?.[0].replace(/[.,;:!?*_~]+$/u, '');
    const href = url ? safeUrl(url) : undefined;
    return url && href ? this.#put({ type: 'link', href, children: [url] }, url.length) : 0;
  }

  get #top(): Open {
    return this.#stack.at(-1) as Open;
  }

  #depthOf(mark: string): number {
    return this.#stack.findLastIndex((open) => open.mark === mark);
  }

  #open(mark: string): number {
    if (this.#stack.length > maxDepth) return 0;
    this.#flush();
    this.#stack.push({ mark, children: [] });
    return mark.length;
  }

  /** Closes the delimiter at a depth. @returns what it contains */
  #close(depth: number): Inline[] {
    this.#flush();
    this.#unwind(depth);
    return (this.#stack.pop() as Open).children;
  }

  /** Turns delimiters above a depth into text. */
  #unwind(depth: number): void {
    while (this.#stack.length > depth + 1) {
      const { mark, children } = this.#stack.pop() as Open;
      this.#add(mark);
      for (const child of children) this.#add(child);
    }
  }

  /** Adds an element behind the text before it. */
  #put(node: Inline, length: number): number {
    this.#flush();
    this.#add(node);
    return length;
  }

  #flush(): void {
    this.#add(this.#text.slice(this.#plain, this.#at));
    this.#plain = this.#at;
  }

  #add(node: Inline): void {
    const { children } = this.#top;
    const last = children.at(-1);
    if (typeof node === 'string' && typeof last === 'string') children[children.length - 1] = last + node;
    else if (node !== '') children.push(node);
  }
}

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
