import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  harness,
  intercept,
  MessageList,
  reply,
  type JournalRecord,
  type SystemBlock,
  type ToolDefinition,
  type ToolEffect,
} from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fileSessions } from '../index.js';
import { RecordReader, RecordWriter } from './records.js';

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'h-records-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

const journalIn = (directory: string): string =>
  readFileSync(join(directory, readdirSync(directory)[0] ?? '', 'journal.jsonl'), 'utf8');

const requestRecord = (
  seq: number,
  parts: { system: readonly SystemBlock[]; tools: readonly ToolDefinition[] },
): JournalRecord => ({
  v: 1,
  seq,
  event: event('model.request', { step: 1, attempt: 1, messages: MessageList.empty, tail: [], settings: {}, ...parts }),
  derived: false,
});

/** Runs a turn that calls a tool with this effect once per step. Returns how often its journal was synced. */
const syncsOf = async (effect: ToolEffect, steps: number): Promise<number> => {
  const directory = folder();
  const handle = await open(join(directory, 'probe'), 'w');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  rmSync(join(directory, 'probe'));
  const datasync = vi.spyOn(prototype, 'datasync');
  const agent = harness({
    model: scriptedModel([...Array.from({ length: steps }, (_, step) => response(call(`${step}`, 'work'))), 'Done.']),
    tools: scriptedTools({ work: () => 'ok' }, { work: { effect } }),
    sessions: fileSessions({ directory }),
  }).pipe();
  await reply(agent.turn({ session: 'alice', input: 'Go.' }));
  const { length } = datasync.mock.calls;
  datasync.mockRestore();
  return length;
};

describe('the records of a journal', () => {
  it('are decoded unchanged, including repeated parts of requests', () => {
    const systems = [[], [{ text: 'Be careful.' }], [{ text: 'Be careful.' }], [{ text: 'Be quick.' }]];
    const tool = (name: string): ToolDefinition => ({ name, description: name, inputSchema: { type: 'object' } });
    const tools = [[], [tool('read')], [tool('write')]];
    const step = fc.record({
      system: fc.constantFrom(...systems),
      tools: fc.constantFrom(...tools),
      begins: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const writer = new RecordWriter();
        const reader = new RecordReader();
        let seq = 0;
        for (const { begins, ...parts } of steps) {
          seq = begins ? 0 : seq + 1;
          const given = requestRecord(seq, parts);
          expect(reader.decode(writer.encode(given)).event).toMatchObject(parts);
        }
      }),
    );
  });

  it('contain the prompt of a turn once', async () => {
    const directory = folder();
    const prompt = 'Name things by what they mean.';
    const shared = [{ text: prompt }];
    const agent = harness({
      model: scriptedModel([response(call('1', 'ls')), response(call('2', 'ls')), 'Done.']),
      tools: scriptedTools({ ls: () => 'a.txt' }),
      sessions: fileSessions({ directory }),
    }).pipe(
      intercept('system', () => ({ decide: { 'model.request': (request) => ({ ...request, system: shared }) } })),
    );
    await reply(agent.turn({ session: 'alice', input: 'Go.' }));
    expect(journalIn(directory).split(prompt)).toHaveLength(2);
  });

  it('are rejected if they refer to a request that the journal does not contain', () => {
    const writer = new RecordWriter();
    const system = [{ text: 'Be careful.' }];
    writer.encode(requestRecord(1, { system, tools: [] }));
    const repeated = writer.encode(requestRecord(2, { system, tools: [] }));
    expect(() => new RecordReader().decode(repeated)).toThrow('Record 2 repeats a request');
  });

  it('are synced once for a step that writes, and not for a read-only step', async () => {
    expect((await syncsOf('local-write', 9)) - (await syncsOf('local-write', 4))).toBe(5);
    expect(await syncsOf('read-only', 9)).toBe(await syncsOf('read-only', 4));
  });
});
