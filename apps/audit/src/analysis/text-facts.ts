import { createRedactor, type Redactor } from '@h/redact';
import { scanContext, type ScanContextResult } from '@h/security';
import { judgeCommand } from '@h/shell';
import { estimateTokens } from '@h/tokens';

/** Results are scanned up to this length: an injection is at the beginning of a page or hidden near its text. */
const maxScannedChars = 200_000;
/** Texts below this length are not remembered: looking them up costs as much as reading them. */
const minChars = 256;
/** Characters of the texts that are remembered, in each of two generations. */
const maxChars = 8_000_000;

/** Command lines whose judgment is remembered: agents repeat their tests and `git status`. */
const maxCommands = 5000;
/** Transcripts rarely name the folder of a command; any folder that is neither a home nor a system folder will do. */
const cwd = '/project';

interface Facts {
  tokens?: number;
  secrets?: Readonly<Record<string, number>>;
  injection?: Pick<ScanContextResult, 'verdict' | 'findings'>;
}

/**
 * What texts contain. A text that appears repeatedly, such as a file that several sessions read, is examined once as
 * long as it is remembered.
 */
export class TextFacts {
  readonly #redactor: Redactor = createRedactor();
  #young = new Map<string, Facts>();
  #old = new Map<string, Facts>();
  #youngChars = 0;
  readonly #commands = new Map<string, ReturnType<typeof judgeCommand>>();

  /** Returns the text without secrets. */
  redacted(text: string): string {
    return this.#redactor.redact(text);
  }

  /** Returns the estimated tokens. */
  tokens(text: string): number {
    return (this.#of(text).tokens ??= estimateTokens(text));
  }

  /** Returns the number of secrets by kind. */
  secrets(text: string): Readonly<Record<string, number>> {
    return (this.#of(text).secrets ??= this.#redactor.inspect(text).found);
  }

  /** Returns whether the text addresses the model. */
  injection(text: string): Pick<ScanContextResult, 'verdict' | 'findings'> {
    return (this.#of(text).injection ??= scanContext(text.slice(0, maxScannedChars), { policy: 'warn' }));
  }

  /** Returns whether a command line is destructive. */
  command(line: string): ReturnType<typeof judgeCommand> {
    const known = this.#commands.get(line);
    if (known !== undefined) return known;
    const judged = judgeCommand(line, { cwd });
    if (this.#commands.size >= maxCommands) this.#commands.clear();
    this.#commands.set(line, judged);
    return judged;
  }

  #of(text: string): Facts {
    if (text.length < minChars) return {};
    const known = this.#young.get(text);
    if (known !== undefined) return known;
    if (this.#youngChars + text.length > maxChars) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngChars = 0;
    }
    const facts = this.#old.get(text) ?? {};
    this.#young.set(text, facts);
    this.#youngChars += text.length;
    return facts;
  }
}
