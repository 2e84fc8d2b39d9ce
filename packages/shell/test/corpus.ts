import { readFileSync } from 'node:fs';

const listIn = (name: string): readonly string[] =>
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as readonly string[];

/** The folder in which the commands of these lists are judged. */
export const place = { cwd: '/work/app', home: '/home/me' };

/**
 * Everyday commands: scripts of npm packages, shell blocks of their documentation, and frequent commands of coding
 * agents.
 */
export const everyday = listIn('everyday.json');

/** Commands that must not be allowed, in plain and evasive forms. */
export const dangerous = listIn('dangerous.json');
