import { resolve, sep } from 'node:path';
import type { ToolCall } from '@h/turn';
import { stateFolderName } from './files/state-folder.js';
import { notesFileName } from './notes.js';
import type { ContinuitySettings } from './options.js';
import { progressFileName } from './progress/schema.js';
import { rulesFileName } from './rules.js';

/** Names of inputs that contain the path of a file. */
const pathMembers = [
  'path',
  'file_path',
  'filePath',
  'file',
  'filename',
  'target_file',
  'notebook_path',
  'source',
  'destination',
];

const instead: ReadonlyMap<string, string> = new Map([
  [progressFileName, 'only task_plan, task_next, task_done and task_block change it'],
  [notesFileName, 'only the tool note adds to it'],
  [rulesFileName, 'propose a rule with rule_propose, which a person reviews'],
  [stateFolderName, 'it contains the state of the harness'],
]);
const byHand = 'only people may edit it';

/** Returns why a call may not change the file that it names. Calls with the effect `read-only` are allowed. */
export const protectionOf = (
  { name, input, effect }: ToolCall,
  { project: { folder }, protect }: Pick<ContinuitySettings, 'project' | 'protect'>,
): string | undefined => {
  if (effect === 'read-only' || typeof input !== 'object' || input === null) return undefined;
  for (const member of pathMembers) {
    const path = (input as Readonly<Record<string, unknown>>)[member];
    if (typeof path !== 'string') continue;
    const file = protect.find((own) => isWithin(resolve(folder, path), resolve(folder, own)));
    if (file !== undefined) return `${name} may not change ${file}: ${instead.get(file) ?? byHand}.`;
  }
  return undefined;
};

/** Ignores case, as some file systems do. */
const isWithin = (path: string, place: string): boolean =>
  `${path}${sep}`.toLowerCase().startsWith(`${place}${sep}`.toLowerCase());
