import type { ProjectStatus, Task } from '@h/continuity';
import type { ChildSnapshot } from '@h/subagents';
import { clipped } from './fit.js';
import { oneLine } from './printable.js';
import { counted } from './quantity.js';
import type { Paper } from './tool-line.js';

const marks: Readonly<Record<Task['status'], readonly [mark: string, color: 'green' | 'yellow' | 'cyan' | 'dim']>> = {
  done: ['✓', 'green'],
  in_progress: ['▸', 'cyan'],
  blocked: ['⊘', 'yellow'],
  todo: ['·', 'dim'],
};

/** The tasks of a plan, one line each, and its progress. */
export const planLines = ({ file, text, tasks }: ProjectStatus, { palette, columns }: Paper): readonly string[] => {
  if (file === 'missing') return [];
  const lines = tasks.map(({ id, title, status, blockedBy }) => {
    const [mark, color] = marks[status];
    return `${palette[color](mark)} ${clipped(oneLine(`${id} · ${title}${blockedBy === undefined ? '' : ` (blocked: ${blockedBy})`}`), columns - 2)}`;
  });
  return [...lines, palette.dim(oneLine(text))];
};

/** The sub-agents with pending results, one line each. */
export const childLines = (children: readonly ChildSnapshot[], { palette, columns }: Paper): readonly string[] =>
  children.length === 0
    ? []
    : [
        `${counted(children.length, 'sub-agent')}:`,
        ...children.map(({ agent, status, task }) => {
          const what = `${agent} · ${status === 'under-way' ? 'running' : status}`;
          return `${palette.cyan('⎇')} ${what}${palette.dim(' · ')}${clipped(oneLine(task), columns - what.length - 5)}`;
        }),
      ];
