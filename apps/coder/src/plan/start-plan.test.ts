import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openProject } from '@h/continuity';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { goalOf } from './start-plan.js';

const statusWith = async (content?: string) => {
  const folder = temporaryFolder();
  if (content !== undefined) await writeFile(join(folder, 'agent-progress.json'), content);
  return openProject({ folder }).status();
};

describe('goalOf', () => {
  it('returns the prompt if the folder has no plan', async () => {
    expect(goalOf(await statusWith(), 'Build it')).toBe('Build it');
  });

  it('requires a prompt if the folder has no plan', async () => {
    const status = await statusWith();
    expect(() => goalOf(status, undefined)).toThrow('--plan: this folder has no plan to continue. Pass a prompt.');
  });

  it.each([undefined, 'Build it'])('reports a damaged plan (prompt: %s)', async (prompt) => {
    const status = await statusWith('{ "goal": ');
    expect(() => goalOf(status, prompt)).toThrow(/damaged: .*Repair agent-progress\.json/s);
  });
});
