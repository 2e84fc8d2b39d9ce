import { resolve, sep } from 'node:path';
import type { ToolCall } from '@h/turn';
import { stateFolderName } from './files/state-folder.js';
import { notesFileName } from './notes.js';
import type { ContinuitySettings } from './options.js';
import { progressFileName } from './progress/schema.js';
import { rulesFileName } from './rules.js';

/** Members of inputs that name the file that a tool works on. */
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
  [progressFileName, 'it only changes through task_plan, task_next, task_done and task_block'],
  [notesFileName, 'it only grows, through note'],
  [rulesFileName, 'propose a rule with rule_propose, which a person reviews'],
  [stateFolderName, 'the harness keeps its own state there'],
]);
const byHand = 'people change it by hand';

/** Why a call may not change the file that it names; nothing where it may. Calls that declare that they only read are let through. */
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

/** Some file systems know no difference between capitals and others. */
const isWithin = (path: string, place: string): boolean =>
  `${path}${sep}`.toLowerCase().startsWith(`${place}${sep}`.toLowerCase());
