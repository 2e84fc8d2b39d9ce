import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import * as z from 'zod';
import { isoOf, type Clock } from './clock.js';
import { ContinuityError } from './errors.js';
import { readWhole } from './files/bounded-read.js';
import { ifThere } from './files/errors.js';
import type { StateFolder, StateWriter } from './files/state-folder.js';

/** The name of the file with the project's rules. */
export const rulesFileName = 'AGENTS.md';

/** A rule to propose. */
export interface RuleProposal {
  /** The rule, in one line. */
  readonly rule: string;
  /** The failure that it would have prevented. */
  readonly because: string;
  readonly session: string;
}

const proposedSchema = z.strictObject({
  id: z.string(),
  rule: z.string(),
  because: z.string(),
  session: z.string(),
  at: z.iso.datetime(),
  status: z.enum(['proposed', 'rejected']),
});
const fileSchema = z.strictObject({ version: z.literal(1), rules: z.array(proposedSchema) });

/** A proposed rule that awaits review or was rejected. */
export type ProposedRule = z.infer<typeof proposedSchema>;

/**
 * Rules learned from failures: a failure leads to a proposed rule, and once a person has accepted it, it is added to
 * `AGENTS.md`, which all later sessions read.
 */
export interface RuleRatchet {
  readonly path: string;
  /**
   * Proposes a rule.
   *
   * @returns `known` if the file contains it, or it was proposed or rejected before
   * @throws ContinuityError `too-many-rules`
   */
  propose(proposal: RuleProposal): Promise<{ readonly id: string; readonly outcome: 'proposed' | 'known' }>;
  /** Returns the proposals that await review. */
  pending(): Promise<readonly ProposedRule[]>;
  /**
   * Adds a proposed rule to `AGENTS.md`, in the given wording. @throws ContinuityError `unknown-rule`, `unsafe-path`
   */
  accept(id: string, wording?: string): Promise<void>;
  /** Rejects a proposed rule; it is not proposed again. @throws ContinuityError `unknown-rule` */
  reject(id: string): Promise<void>;
}

const maxPending = 100;
const maxRemembered = 500;
const maxBytes = 4 * 1024 * 1024;
const begin = '<!-- rules learnt from failures: begin -->';
const end = '<!-- rules learnt from failures: end -->';

export const createRuleRatchet = (project: string, folder: StateFolder, clock: Clock): RuleRatchet => {
  const path = join(project, rulesFileName);
  const proposalsPath = folder.at('rules.json');

  const rules = async (): Promise<readonly ProposedRule[]> => {
    const found = await readWhole(proposalsPath, maxBytes);
    if (found === undefined) return [];
    const checked = 'text' in found ? fileSchema.safeParse(jsonOf(found.text)) : undefined;
    if (checked?.success === true) return checked.data.rules;
    throw new ContinuityError(
      'progress-corrupt',
      `The proposed rules in ${proposalsPath} cannot be read. Repair or delete the file.`,
    );
  };
  const keep = async ({ replace }: StateWriter, all: readonly ProposedRule[]): Promise<void> =>
    replace(proposalsPath, `${JSON.stringify({ version: 1, rules: remembered(all) }, undefined, 2)}\n`);
  const take = async (
    id: string,
  ): Promise<{ readonly rule: ProposedRule; readonly others: readonly ProposedRule[] }> => {
    const all = await rules();
    const rule = all.find((candidate) => candidate.id === id && candidate.status === 'proposed');
    if (rule === undefined) throw new ContinuityError('unknown-rule', `No rule with the id "${id}" awaits review.`);
    return { rule, others: all.filter((candidate) => candidate !== rule) };
  };

  return {
    path,
    propose: ({ rule, because, session }) =>
      folder.exclusive(async (writer) => {
        const text = oneLine(rule, 500);
        const id = createHash('sha256').update(text.toLowerCase()).digest('hex').slice(0, 8);
        const all = await rules();
        if (all.some((known) => known.id === id) || (await textOf(path)).includes(`- ${text}\n`)) {
          return { id, outcome: 'known' };
        }
        if (all.filter(({ status }) => status === 'proposed').length >= maxPending) {
          throw new ContinuityError(
            'too-many-rules',
            `${maxPending} proposed rules await review. Accept or reject some first.`,
          );
        }
        await keep(writer, [
          ...all,
          { id, rule: text, because: oneLine(because, 1_000), session, at: isoOf(clock()), status: 'proposed' },
        ]);
        return { id, outcome: 'proposed' };
      }),
    pending: async () => (await rules()).filter(({ status }) => status === 'proposed'),
    accept: (id, wording) =>
      folder.exclusive(async (writer) => {
        const { rule, others } = await take(id);
        const file = await insideProject(project, path);
        await writer.replace(file, withRule(await textOf(file), oneLine(wording ?? rule.rule, 500)));
        await keep(writer, others);
      }),
    reject: (id) =>
      folder.exclusive(async (writer) => {
        const { rule, others } = await take(id);
        await keep(writer, [...others, { ...rule, status: 'rejected' }]);
      }),
  };
};

/** Adds a rule behind the learned ones; the rest of the text stays unchanged. */
export const withRule = (text: string, rule: string): string => {
  if (text.includes(`- ${rule}\n`)) return text;
  const place = text.lastIndexOf(end);
  if (place >= 0) return `${text.slice(0, place)}- ${rule}\n${text.slice(place)}`;
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  return `${text}${gap}## Rules learnt from failures\n\n${begin}\n- ${rule}\n${end}\n`;
};

const textOf = async (path: string): Promise<string> => {
  const file = await ifThere(realpath(path));
  const found = file === undefined ? undefined : await readWhole(file, maxBytes);
  if (found !== undefined && 'tooLarge' in found) {
    throw new ContinuityError('unsafe-path', `${path} has ${found.tooLarge} bytes; the limit is ${maxBytes}.`);
  }
  return found?.text ?? '';
};

/** Resolves a path that may be a link within the project, as `AGENTS.md` often is. */
const insideProject = async (project: string, path: string): Promise<string> => {
  const file = await ifThere(realpath(path));
  if (file === undefined) return path;
  const way = relative(await realpath(project), file);
  if (way.startsWith('..') || isAbsolute(way)) {
    throw new ContinuityError('unsafe-path', `${path} is a link to a file outside the project. Replace it by a file.`);
  }
  return file;
};

/** The rules that await review, and the latest rejected ones. */
const remembered = (all: readonly ProposedRule[]): readonly ProposedRule[] => {
  const rejected = all.filter(({ status }) => status === 'rejected');
  const forgotten = new Set(rejected.slice(0, Math.max(0, rejected.length - maxRemembered)));
  return all.filter((rule) => !forgotten.has(rule));
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const oneLine = (text: string, maxChars: number): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .replaceAll('<!--', '&lt;!--')
    .replaceAll('-->', '--&gt;')
    .trim()
    .slice(0, maxChars)
    .toWellFormed();
