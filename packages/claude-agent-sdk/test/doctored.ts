import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { doctor, DoctorError } from '../src/doctor.js';
import { claudeEnv } from './claude.js';

/** Gives each test a folder, and the findings of the doctor in it. */
export const doctored = () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'h-doctor-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const seen = async (options: Options, forget?: (id: string) => void): Promise<unknown> => {
    const base: Options = { cwd: folder, env: claudeEnv(folder), settingSources: [] };
    const error: unknown = await doctor({ options: { ...base, ...options }, forget, timeoutMs: 50_000 }).catch(
      (thrown: unknown) => thrown,
    );
    return error instanceof DoctorError ? error.findings.map(({ path, seen: what }) => [path, what]) : error;
  };
  return { folder: () => folder, seen };
};
