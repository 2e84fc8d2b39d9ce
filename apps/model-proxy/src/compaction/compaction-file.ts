import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LruMap } from '@h/bounded';
import type { CompactionMemory } from '@h/compaction';
import { replaceFile } from '@h/files';
import { parseJson, stringOf, objectOf } from '../wire/json-value.js';

type Decision = NonNullable<ReturnType<CompactionMemory['get']>>;

/** Number of decisions that are remembered: about 200 kB for one that protects 40,000 tokens. */
const maxDecisions = 200;
/** Size of the file at which decisions that are no longer used are removed from it. */
const maxBytes = 100_000_000;

/**
 * Remembers decisions about conversations in memory and in a file, so that a restart does not change what is sent.
 *
 * The folder must have a single writer.
 */
export class CompactionFile implements CompactionMemory {
  readonly #path: string;
  readonly #decisions = new LruMap<string, Decision>(maxDecisions);
  #bytes = 0;
  /** Whether the last line may be torn by a full disk. */
  #isTorn = false;

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(folder: string): Promise<CompactionFile> {
    const file = new CompactionFile(join(folder, 'compactions.jsonl'));
    file.#read();
    await file.#shorten();
    return file;
  }

  get isEmpty(): boolean {
    return this.#decisions.size === 0;
  }

  get(history: string): Decision | undefined {
    return this.#decisions.get(history);
  }

  set(history: string, decision: Decision): void {
    const line = `${JSON.stringify({ history, decision })}\n`;
    this.#decisions.set(history, decision);
    try {
      if (this.#bytes + line.length > maxBytes) return;
      const text = `${this.#isTorn ? '\n' : ''}${line}`;
      this.#isTorn = true;
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#isTorn = false;
      this.#bytes += line.length;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      process.emitWarning(`A compaction cannot be stored: ${reason}`, { code: 'compaction-not-stored' });
    }
  }

  #read(): void {
    let text = '';
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    for (const line of text.split('\n')) {
      // The last line of a process that was killed may be torn.
      const { history, decision } = objectOf(line === '' ? undefined : parseJson(line));
      const { covers, messages, notes } = objectOf(decision);
      if (typeof covers !== 'number' || !Array.isArray(messages) || notes === undefined) continue;
      this.#decisions.set(stringOf(history) ?? '', decision as Decision);
    }
  }

  /** Removes decisions that were replaced, and ends a torn line. */
  async #shorten(): Promise<void> {
    const lines = [...this.#decisions.entries()].map(
      ([history, decision]) => `${JSON.stringify({ history, decision })}\n`,
    );
    this.#bytes = lines.reduce((sum, { length }) => sum + length, 0);
    await replaceFile(this.#path, lines);
  }
}
