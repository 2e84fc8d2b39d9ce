import { createHash } from 'node:crypto';
import { readRegularFile, withLock } from '@h/files';
import { scanContext } from '@h/security';
import type { McpToolDescription } from '@h/tools/mcp';
import { ConfigError } from './config.js';

/** Why a tool is not offered. */
export interface Refusal {
  readonly tool: string;
  readonly reason: string;
}

type Pins = Readonly<Record<string, string>>;

/** Longest description that is scanned; a longer one is refused. */
const maxDescription = 100_000;

/**
 * The approved descriptions of tools.
 *
 * The first list of a server is approved, or the list in the file. Afterwards a tool that is new or described
 * differently is refused until it is approved.
 */
export class ToolPins {
  readonly #file: string | undefined;
  readonly #isScanned: boolean;
  readonly #isPinned: boolean;
  readonly #onNote: (note: string) => void;
  readonly #pins = new Map<string, Pins>();

  private constructor(pins: boolean | string, isScanned: boolean, onNote: (note: string) => void) {
    this.#onNote = onNote;
    this.#isPinned = pins !== false;
    this.#isScanned = isScanned;
    this.#file = typeof pins === 'string' ? pins : undefined;
  }

  /**
   * @param pins - whether to pin, or the file with the pins
   * @param onNote - receives a message if the first list of a server cannot be stored
   * @throws ConfigError if the file is not a file of pins
   */
  static async open(pins: boolean | string, isScanned: boolean, onNote: (note: string) => void): Promise<ToolPins> {
    const opened = new ToolPins(pins, isScanned, onNote);
    if (opened.#file === undefined) return opened;
    for (const [server, known] of Object.entries(await readPins(opened.#file))) opened.#pins.set(server, known);
    return opened;
  }

  /** Returns why the tools of a server are refused; the others may be offered. */
  async check(server: string, tools: ReadonlyMap<string, McpToolDescription>): Promise<readonly Refusal[]> {
    const known = this.#pins.get(server);
    if (known === undefined && this.#isPinned) {
      await this.approve(server, tools).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#onNote(
          `The approved tools of ${server} cannot be stored in ${this.#file}: ${reason}. They are approved until the guard ends.`,
        );
      });
    }
    return [...tools].flatMap(([tool, description]) => {
      const reason = this.#suspicion(description) ?? this.#difference(known, tool, description);
      return reason === undefined ? [] : [{ tool, reason }];
    });
  }

  /** Approves the descriptions of all tools of a server. */
  async approve(server: string, tools: ReadonlyMap<string, McpToolDescription>): Promise<void> {
    const pins = Object.fromEntries([...tools].map(([tool, description]) => [tool, hashOf(description)]));
    this.#pins.set(server, pins);
    const file = this.#file;
    if (file === undefined) return;
    await withLock(`${file}.lock`, { waitMs: lockWaitMs }, async (lock) => {
      const all = { ...(await readPins(file)), [server]: pins };
      await lock.replaceFile(file, `${JSON.stringify(all, undefined, 2)}\n`);
    });
  }

  #suspicion(description: McpToolDescription): string | undefined {
    if (!this.#isScanned) return undefined;
    const { icons: _icons, ...read } = passedOn(description);
    const texts = textsIn(read);
    if (texts === undefined) return `its description is nested more than ${maxDepth} levels deep`;
    const text = texts.join('\n\n');
    if (text.length > maxDescription) return `its description has ${text.length} characters`;
    const { verdict, findings } = scanContext(text);
    if (verdict !== 'malicious') return undefined;
    return `its description tries to redirect the model (${findings.map(({ rule }) => rule).join(', ')})`;
  }

  #difference(known: Pins | undefined, tool: string, description: McpToolDescription): string | undefined {
    if (!this.#isPinned || known === undefined) return undefined;
    if (!Object.hasOwn(known, tool)) return 'it is new since the tools of the server were approved';
    return known[tool] === hashOf(description) ? undefined : 'its description has changed since it was approved';
  }
}

const lockWaitMs = 5_000;

const readPins = async (file: string): Promise<Readonly<Record<string, Pins>>> => {
  const { text } = (await readRegularFile(file)) ?? {};
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, Pins>>;
  } catch (error) {
    const message = `${file} is not a file of pins: ${(error as Error).message}. Delete it to approve the tools again.`;
    throw new ConfigError(message, { cause: error });
  }
};

/** Hashes all that clients receive of a tool: a model reads it, or it decides how the tool is treated. */
const hashOf = (description: McpToolDescription): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(passedOn(description))))
    .digest('hex');

/** Sorts the keys of objects, so that the same description has the same hash. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
};

/** What clients receive of a description. Results may be wrapped or cut, so no schema of the output is promised. */
export const passedOn = ({
  outputSchema: _outputSchema,
  execution: _execution,
  ...rest
}: McpToolDescription): Omit<McpToolDescription, 'outputSchema' | 'execution'> => rest;

/** Deepest nesting of a description. */
const maxDepth = 50;

/** Returns the strings and the names of members in a value: a model reads both. `undefined` if it is nested too deep. */
const textsIn = (value: unknown, depth = 0): readonly string[] | undefined => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (depth === maxDepth) return undefined;
  const texts: string[] = Array.isArray(value) ? [] : Object.keys(value);
  for (const item of Object.values(value)) {
    const found = textsIn(item, depth + 1);
    if (found === undefined) return undefined;
    texts.push(...found);
  }
  return texts;
};
