import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../..', import.meta.url));
const length = 2 ** 20 + 50_000;

/** A megabyte of the sources and pages of the packages here, in the order of their names. */
export const readCorpus = async () => {
  const names = await readdir(folder, { recursive: true });
  const files = names
    .filter((name) => /\.(?:ts|md)$/.test(name) && !/node_modules|dist|coverage/.test(name))
    .toSorted();
  let text = '';
  for (const name of files) if (text.length < length) text += await readFile(join(folder, name), 'utf8');
  while (text.length < length) text += text;
  return text;
};
