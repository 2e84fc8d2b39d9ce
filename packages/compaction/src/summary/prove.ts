import type { IdentifierReport } from '../events.js';
import { CompactionError } from '../failure.js';
import { delimited } from './delimited.js';
import { missingIdentifiers } from './identifiers.js';
import type { Interview } from './interview.js';
import { isVital, type RankedIdentifier } from './rank-identifiers.js';

/** What {@link proveSummary} needs. */
export interface ProveOptions {
  readonly interview: Interview;
  /** How often the summarizer may mend its text. */
  readonly maxCorrections: number;
  /** How long the list of identifiers may be that is appended. */
  readonly ledgerTokens: number;
  readonly countText: (text: string) => number;
  /** The message that will be stored, for a body and a ledger: in it, and nowhere else, the identifiers have to be. */
  readonly compose: (body: string, ledger: readonly RankedIdentifier[], dropped: number) => string;
}

/** A summary whose identifiers are accounted for. */
export interface ProvenSummary {
  readonly body: string;
  readonly ledger: readonly RankedIdentifier[];
  readonly report: IdentifierReport;
}

/** How many identifiers the summarizer is told to put in at a time. */
const maxTold = 60;

/**
 * Checks letter by letter that identifiers are in the text that will be stored. When vital ones are missing the summarizer
 * may mend its text; what is missing then is appended, as much as has room, the most important first.
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

/** The text with these identifiers in it; nothing when the summarizer fails, as there is still the ledger. */
const correct = async (
  body: string,
  missing: readonly RankedIdentifier[],
  interview: Interview,
): Promise<string | undefined> => {
  const list = missing.slice(0, maxTold).map(({ value }) => `- ${value}`);
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
