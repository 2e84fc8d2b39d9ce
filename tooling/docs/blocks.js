/**
 * @typedef {{ line: number, code: string, runs: boolean, output: string | undefined }} Module A module of the page's
 * examples, and the line at which it starts. Its lines have the same numbers as in the page.
 */

const fence = /^(?<indent>\s*)(?<ticks>`{3,}|~{3,})(?<info>.*)$/;
const isTypeScript = /** @type {(info: string) => boolean} */ (info) => /^(?:ts|tsx|typescript)$/.test(info);

/**
 * Extracts the TypeScript examples of a Markdown page. Each is a separate module, unless the word `continued` after the
 * language adds it to the previous one. Hidden declarations are in a comment before the example that starts with the
 * line `<!-- ts`.
 *
 * @type {(page: string) => Module[]}
 */
export const modulesOf = (page) => {
  /** @type {{ lines: Map<number, string>, runs: boolean, output: string[] | undefined }[]} */
  const modules = [];
  /** @type {Map<number, string>} */
  let hidden = new Map();
  /**
   * @type {{ end: (line: string) => boolean, keep: ((line: string, number: number) => void) | undefined } | undefined}
   */
  let open;

  page.split(/\r?\n/).forEach((line, index) => {
    const number = index + 1;
    if (open !== undefined) {
      if (open.end(line)) open = undefined;
      else open.keep?.(line, number);
      return;
    }
    if (/^<!-- ts\s*$/.test(line)) {
      const lines = hidden;
      open = { end: (text) => text.trim() === '-->', keep: (text, at) => lines.set(at, text) };
      return;
    }
    const { indent = '', ticks = '', info = '' } = fence.exec(line)?.groups ?? {};
    if (ticks === '') return;
    const [language = '', ...words] = info.trim().split(/\s+/);
    const end = /** @type {(text: string) => boolean} */ (text) =>
      text.trim().startsWith(ticks) && /^[`~]+$/.test(text.trim());
    const latest = modules.at(-1);
    if (language === 'text' && words.includes('output') && latest !== undefined) {
      const output = /** @type {string[]} */ ([]);
      latest.output = output;
      open = { end, keep: (text) => output.push(text) };
      return;
    }
    if (!isTypeScript(language)) {
      open = { end, keep: undefined };
      return;
    }
    const before = words.includes('continued') ? modules.pop() : undefined;
    const lines = new Map([...(before?.lines ?? []), ...hidden]);
    hidden = new Map();
    modules.push({ lines, runs: words.includes('run'), output: undefined });
    open = { end, keep: (text, at) => lines.set(at, text.startsWith(indent) ? text.slice(indent.length) : text) };
  });

  return modules.map(({ lines, runs, output }) => {
    const last = Math.max(0, ...lines.keys());
    const code = Array.from({ length: last }, (_, index) => lines.get(index + 1) ?? '').join('\n');
    return { line: Math.min(...lines.keys()), code: `${code}\nexport {};\n`, runs, output: output?.join('\n') };
  });
};
