import { readFileSync } from 'node:fs';

/** Where the commands of these lists are judged. */
export const place = { cwd: '/work/app', home: '/home/me' };

/**
 * Everyday commands, one a line, `\n` for a line break within one that has a here-document: scripts of npm packages, shell blocks
 * of their documents, and what coding agents run all day.
 */
export const everyday: readonly string[] = readFileSync(new URL('everyday.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => (/<<'?EO[FS]_?/.test(line) ? line.replaceAll(String.raw`\n`, '\n') : line));
