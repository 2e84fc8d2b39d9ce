import { charsPerToken } from '@h/tokens';
import { addUsage, noUsage, toErrorInfo, type Message, type Usage } from '@h/turn';
import { contained } from '../state-message.js';
import { briefingInstructions } from './instructions.js';
import type { BriefingQuestion, HandOffSettings } from './options.js';
import { chunksOf, clip, transcriptOf } from './transcript.js';

/** A briefing whose identifiers are accounted for. */
export interface Briefing {
  readonly text: string;
  readonly chunks: number;
  readonly identifiers: { readonly found: number; readonly appended: number; readonly dropped: number };
  readonly usage: Usage;
}

/** Whom to ask, and for whom. */
export interface BriefingContext {
  readonly settings: Pick<
    HandOffSettings,
    'summarize' | 'identifiers' | 'chunkChars' | 'maxBriefingTokens' | 'isOverflow' | 'redact'
  >;
  readonly turn: string;
  readonly session: string;
  readonly signal: AbortSignal;
}

/** A text that is too long for the summariser is cut in two so many times before it is given up. */
const maxHalvings = 4;
/** How many identifiers the summariser is told to put in. */
const maxTold = 60;
const leastChars = 20;

/**
 * Writes a briefing on a history: in chunks that are merged, when it is longer than a summariser can read. Identifiers are taken from
 * all of it; what the briefing lacks the summariser may mend once, and what it still lacks is appended, the latest first.
 *
 * @throws Error when the summariser fails, or gives back nothing worth the name
 */
export const writeBriefing = async (messages: readonly Message[], context: BriefingContext): Promise<Briefing> => {
  const { settings } = context;
  const proof = settings.identifiers;
  const texts = messages.map((message) => settings.redact(transcriptOf(message))).filter((text) => text !== '');
  let usage = noUsage;
  const ask = async (purpose: BriefingQuestion['purpose'], text: string): Promise<string> => {
    context.signal.throwIfAborted();
    const { maxBriefingTokens: maxOutputTokens, summarize, redact } = settings;
    const answer = await summarize(
      { purpose, instructions: briefingInstructions(purpose, maxOutputTokens), text, maxOutputTokens },
      context,
    );
    context.signal.throwIfAborted();
    if (typeof answer !== 'string' && answer.usage) usage = addUsage(usage, answer.usage);
    const said = redact(typeof answer === 'string' ? answer : answer.text).trim();
    if (said.length < leastChars) {
      throw new Error(`The summariser gave back ${said === '' ? 'nothing' : JSON.stringify(said)}.`);
    }
    return said;
  };

  const chunks = chunksOf(texts, settings.chunkChars);
  const parts: string[] = [];
  for (const chunk of chunks) parts.push(...(await summarizeChunk(chunk, ask, settings.isOverflow, 0)));
  const written = await mergeParts(parts, ask, settings.chunkChars);

  const found = proof.extract(texts.join('\n'));
  let body = written;
  const lost = proof.missing(found, body);
  if (lost.length > 0) {
    const listed = lost.slice(-maxTold).map(({ value }) => `- ${value}`);
    const mended = await ask(
      'correct',
      `${delimited('briefing', body)}${delimited('missing identifiers', listed.join('\n'))}`,
    ).catch(() => {
      context.signal.throwIfAborted();
      return undefined;
    });
    if (mended !== undefined && proof.missing(found, mended).length < lost.length) body = mended;
  }
  const stillLost = proof.missing(found, body);
  const { ledger, appended } = ledgerOf(
    stillLost.map(({ value }) => value),
    settings.maxBriefingTokens * charsPerToken,
  );
  return {
    text: `${body}${ledger}`,
    chunks: chunks.length,
    identifiers: { found: found.length, appended, dropped: stillLost.length - appended },
    usage,
  };
};

type Ask = (purpose: BriefingQuestion['purpose'], text: string) => Promise<string>;

const summarizeChunk = async (
  texts: readonly string[],
  ask: Ask,
  isOverflow: HandOffSettings['isOverflow'],
  halvings: number,
): Promise<readonly string[]> => {
  try {
    return [await ask('summarize', delimited('transcript', texts.join('\n')))];
  } catch (error) {
    if (halvings >= maxHalvings || !isOverflow(toErrorInfo(error))) throw error;
  }
  const [only = ''] = texts;
  if (texts.length === 1) {
    return summarizeChunk([clip(only, Math.floor(only.length / 2))], ask, isOverflow, halvings + 1);
  }
  const middle = Math.ceil(texts.length / 2);
  return [
    ...(await summarizeChunk(texts.slice(0, middle), ask, isOverflow, halvings + 1)),
    ...(await summarizeChunk(texts.slice(middle), ask, isOverflow, halvings + 1)),
  ];
};

/** Makes one briefing of many: as many at a time as the summariser can read, and two at least. */
const mergeParts = async (parts: readonly string[], ask: Ask, chunkChars: number): Promise<string> => {
  const [first = ''] = parts;
  if (parts.length <= 1) return first;
  const batches: string[][] = [];
  for (const part of parts) {
    const last = batches.at(-1);
    const size = last?.reduce((sum, { length }) => sum + length, part.length) ?? 0;
    if (last && (last.length < 2 || size <= chunkChars)) last.push(part);
    else batches.push([part]);
  }
  const merged: string[] = [];
  for (const batch of batches) {
    merged.push(
      batch.length === 1
        ? (batch[0] ?? '')
        : await ask('merge', batch.map((text, index) => delimited(`briefing ${index + 1}`, text)).join('')),
    );
  }
  return mergeParts(merged, ask, chunkChars);
};

/** The list of what the summariser has lost; the latest first, as far as there is room. */
const ledgerOf = (
  values: readonly string[],
  maxChars: number,
): { readonly ledger: string; readonly appended: number } => {
  const lines: string[] = [];
  let room = maxChars;
  for (const value of values.toReversed()) {
    room -= value.length + 3;
    if (room < 0) break;
    lines.push(`- ${value}`);
  }
  return {
    ledger: lines.length === 0 ? '' : `\n\n# Identifiers, letter by letter\n${lines.join('\n')}`,
    appended: lines.length,
  };
};

const delimited = (name: string, text: string): string => {
  const tag = name.split(' ', 1)[0] ?? name;
  return `<${tag} of="${name}">\n${contained(text)}\n</${tag}>\n`;
};
