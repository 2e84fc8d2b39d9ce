import { approximateTokens } from '@h/tokens';
import { nonEmptyString, checkOptions, numberFrom, type OptionChecks } from '@h/options';
import type { Skill } from './skill.js';
import { cutToTokens, escaped } from './text.js';

/** Options of {@link renderSkillIndex}. Tokens are estimated by `approximateTokens` of `@h/tokens`. */
export interface SkillIndexOptions {
  /**
   * How many tokens a skill takes on average: its name and the beginning of its description. Skills that need less leave
   * the rest to those that need more.
   *
   * @defaultValue `10`
   */
  readonly tokensPerSkill?: number | undefined;
  /**
   * How many tokens the whole index may take. Where there are too many skills, descriptions give way first, then names.
   *
   * @defaultValue `2000`
   */
  readonly maxTokens?: number | undefined;
  /**
   * Name of the tool that loads skills.
   *
   * @defaultValue `'skill'`
   */
  readonly tool?: string | undefined;
}

/** Less has no room for the index itself. */
const leastTokens = 100;

/** What the options of an index have to be. */
export const indexChecks: OptionChecks<SkillIndexOptions> = {
  tokensPerSkill: { expected: 'a number above 0', accepts: (value) => typeof value === 'number' && value > 0 },
  maxTokens: numberFrom(leastTokens, Infinity),
  tool: nonEmptyString,
};

/** A description shorter than this tells nothing. */
const leastDescription = 3;

/**
 * The index of the skills that the model may load: a line each, sorted by name. Empty when there are none.
 *
 * What skills say of themselves is escaped and on one line, so that a description can neither end the index nor add to it.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const renderSkillIndex = (skills: readonly Skill[], options: SkillIndexOptions = {}): string => {
  checkOptions('renderSkillIndex()', options, indexChecks);
  const { tokensPerSkill = 10, maxTokens = 2000, tool = 'skill' } = options;
  const open = skills.filter(({ forModel }) => forModel);
  if (open.length === 0) return '';
  const lead = `<skills>\nInstructions for tasks of these kinds can be read with the tool ${tool}, by name; without a name it lists them with all they say of themselves. Read one before you begin a task of its kind.`;
  const end = '\n</skills>';
  const room = maxTokens - approximateTokens(lead + end);
  const names = open.map(({ name }) => `\n- ${name}`);
  const costs = names.map(approximateTokens);
  const shown = howManyFit(costs, room);
  const left = Math.min(room, shown * tokensPerSkill) - sum(costs.slice(0, shown));
  const level =
    shown < open.length
      ? 0
      : waterLevel(
          open.map(({ description }) => descriptionCost(description)),
          left,
        );
  const lines = open
    .slice(0, shown)
    .map(({ description }, index) => `${names[index]}${shortDescription(description, level)}`);
  const rest = open.length - shown;
  return `${lead}${lines.join('')}${rest === 0 ? '' : moreLine(rest)}${end}`;
};

const moreLine = (rest: number): string => `\n(${rest} more: call the tool without a name.)`;

/** How many names fit; where not all do, there has to be room for the line that says so. */
const howManyFit = (costs: readonly number[], room: number): number => {
  if (sum(costs) <= room) return costs.length;
  let left = room - approximateTokens(moreLine(costs.length));
  let count = 0;
  for (const cost of costs) {
    left -= cost;
    if (left < 0) return count;
    count += 1;
  }
  return count;
};

const descriptionCost = (description: string): number => approximateTokens(`: ${escaped(description)}`);

/** The most that each may take so that all together take no more than there is. */
const waterLevel = (needs: readonly number[], total: number): number => {
  const sorted = needs.toSorted((left, right) => left - right);
  let left = total;
  for (const [index, need] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (need > share) return share;
    left -= need;
  }
  return Infinity;
};

/** How many descriptions begin; it tells nothing that the index does not say already. */
const leadIn =
  /^(?:use (?:this skill |this |it )?(?:when(?:ever)?|for|to|if)|this skill (?:should be|is) used (?:when|for|to)) +/i;

const shortDescription = (description: string, level: number): string => {
  if (level < leastDescription) return '';
  const whole = `: ${escaped(description)}`;
  if (approximateTokens(whole) <= level) return whole;
  const telling = description.replace(leadIn, '');
  // An entity that was cut in half would show; what is cut is cut before it is escaped.
  for (let tokens = level - 0.5; tokens >= 1; tokens -= 1) {
    const cut = `: ${escaped(cutToTokens(telling, tokens))}`;
    if (cut.length > 2 && approximateTokens(cut) <= level) return cut;
  }
  return '';
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
