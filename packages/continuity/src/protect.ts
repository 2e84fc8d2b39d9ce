import { resolve } from 'node:path';
import type { ToolCall } from '@h/turn';
import { notesFileName } from './notes.js';
import { progressFileName } from './progress/schema.js';

/** Members of inputs that name the file that a tool works on. */
const pathMembers = ['path', 'file_path', 'filePath', 'file', 'filename'];

const instead: ReadonlyMap<string, string> = new Map([
  [progressFileName, 'it only changes through task_plan, task_next, task_done and task_block'],
  [notesFileName, 'it only grows, through note'],
]);

/** Why a call may not change the file that it names; nothing where it may. Calls that declare that they only read are let through. */
export const protectionOf = ({ name, input, effect }: ToolCall, folder: string): string | undefined => {
  if (effect === 'read-only' || typeof input !== 'object' || input === null) return undefined;
  for (const member of pathMembers) {
    const path = (input as Readonly<Record<string, unknown>>)[member];
    if (typeof path !== 'string') continue;
    for (const [file, how] of instead) {
      if (resolve(folder, path) === resolve(folder, file)) return `${name} may not change ${file}: ${how}.`;
    }
  }
  return undefined;
};
