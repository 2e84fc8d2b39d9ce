import { readFileSync } from 'node:fs';

const listIn = (name: string): readonly string[] =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as readonly string[];

/** Where the commands of these lists are judged. */
export const place = { cwd: '/work/app', home: '/home/me' };

/** Everyday commands: scripts of npm packages, shell blocks of their documents, and what coding agents run all day. */
export const everyday = listIn('everyday.json');

/** Commands that must not simply run, plain ones and ways around. */
export const dangerous = listIn('dangerous.json');
