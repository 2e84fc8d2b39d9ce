import type { IdentifierReport } from '../events.js';
import { CompactionError } from '../failure.js';
import { delimited } from './delimited.js';
import { missingIdentifiers, type RankedIdentifier } from './identifiers.js';
import type { Interview } from './interview.js';
import { isVital } from './rank-identifiers.js';

/** The input of {@link proveSummary}. */
export interface ProveOptions {
  readonly interview: Interview;
  /** Maximum number of corrections by the summarizer. */
  readonly maxCorrections: number;
  /** The maximum length of the appended list of identifiers. */
  readonly ledgerTokens: number;
  readonly countText: (text: string) => number;
  /** Builds the message that is stored, from a body and a ledger. The identifiers must appear in it. */
  readonly compose: (body: string, ledger: readonly RankedIdentifier[], dropped: number) => string;
}

/** A verified summary. */
export interface ProvenSummary {
  readonly body: string;
  readonly ledger: readonly RankedIdentifier[];
  readonly report: IdentifierReport;
}

/** The number of identifiers per correction. */
const maxCorrected = 60;

/**
 * Verifies that identifiers appear verbatim in the text that is stored. If vital ones are missing, the summarizer may
 * correct its text; identifiers that are still missing are appended while there is room, the most important first.
 */
export const proveSummary = async (
  written: string,
  identifiers: readonly RankedIdentifier[],
  options: ProveOptions,
): Promise<ProvenSummary> => {
  const missingIn = (body: string): readonly RankedIdentifier[] =>
    missingIdentifiers(identifiers, options.compose(body, [], 0));
  let body = written;
  let missing = missingIn(body);
  for (let correction = 0; correction < options.maxCorrections; correction += 1) {
    const vital = missing.filter(isVital);
    if (vital.length === 0) break;
    const corrected = await correct(body, vital, options.interview);
    if (corrected === undefined) break;
    const stillMissing = missingIn(corrected);
    if (stillMissing.length >= missing.length) break;
    body = corrected;
    missing = stillMissing;
  }
  const ledger = fitting(missing, options);
  const dropped = missingIdentifiers(identifiers, options.compose(body, ledger, 0)).length;
  return { body, ledger, report: { found: identifiers.length, appended: ledger.length, dropped } };
};

/** The corrected text; `undefined` if the summarizer fails, because the ledger still follows. */
const correct = async (
  body: string,
  missing: readonly RankedIdentifier[],
  interview: Interview,
): Promise<string | undefined> => {
  const list = missing.slice(0, maxCorrected).map(({ value }) => `- ${value}`);
  try {
    return await interview.ask(
      'correct',
      `${delimited('report', body)}${delimited('missing identifiers', list.join('\n'))}`,
    );
  } catch (error) {
    if (error instanceof CompactionError && (error.reason === 'cancelled' || error.reason === 'timed-out')) throw error;
    return undefined;
  }
};

const fitting = (
  missing: readonly RankedIdentifier[],
  { ledgerTokens, countText }: ProveOptions,
): readonly RankedIdentifier[] => {
  let left = ledgerTokens;
  const ledger: RankedIdentifier[] = [];
  for (const identifier of missing) {
    left -= countText(`- ${identifier.value}\n`);
    if (left < 0) break;
    ledger.push(identifier);
  }
  return ledger;
};
