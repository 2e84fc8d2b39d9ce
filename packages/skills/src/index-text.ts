import { approximateTokens } from '@h/tokens';
import { nonEmptyString, checkOptions, numberFrom, type OptionChecks } from '@h/options';
import type { Skill } from './skill.js';
import { cutToTokens, escaped } from './text.js';

/** Options of {@link renderSkillIndex}. Tokens are estimated by `approximateTokens` of `@h/tokens`. */
export interface SkillIndexOptions {
  /**
   * Average number of tokens per skill, for its name and the beginning of its description. Short descriptions leave
   * room for longer ones.
   *
   * @defaultValue `10`, a name and a few words
   */
  readonly tokensPerSkill?: number | undefined;
  /**
   * Maximum number of tokens of the index. If it is exceeded, descriptions are omitted first, then names.
   *
   * @defaultValue `2000`, about 1 % of a context window of 200,000 tokens
   */
  readonly maxTokens?: number | undefined;
  /**
   * Name of the tool that loads skills.
   *
   * @defaultValue `'skill'`
   */
  readonly tool?: string | undefined;
}

/** Minimum that fits the text around the index. */
const minTokens = 100;

/** Checks for the options of an index. */
export const indexChecks: OptionChecks<SkillIndexOptions> = {
  tokensPerSkill: { expected: 'a number above 0', accepts: (value) => typeof value === 'number' && value > 0 },
  maxTokens: numberFrom(minTokens, Infinity),
  tool: nonEmptyString,
};

/** A shorter description is not informative. */
const minDescription = 3;

/**
 * Renders one line for each skill that the model can load. Returns `''` if there is no such skill.
 *
 * Descriptions are escaped and joined to one line, so that they can neither close the index nor add entries.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 */
export const renderSkillIndex = (skills: readonly Skill[], options: SkillIndexOptions = {}): string => {
  checkOptions('renderSkillIndex()', options, indexChecks);
  const { tokensPerSkill = 10, maxTokens = 2000, tool = 'skill' } = options;
  const open = skills.filter(({ forModel }) => forModel);
  if (open.length === 0) return '';
  const lead = `<skills>\nThe tool ${tool} reads the instructions of a skill by name; without a name it lists all skills with their full descriptions. Read the skill before you start a task that it covers.`;
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

/** Returns how many names fit, with room for the line about omitted ones. */
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

/** Returns the largest share per item such that the sum does not exceed `total`. */
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

/** A common beginning of descriptions that carries no information. */
const leadIn =
  /^(?:use (?:this skill |this |it )?(?:when(?:ever)?|for|to|if)|this skill (?:should be|is) used (?:when|for|to)) +/i;

const shortDescription = (description: string, level: number): string => {
  if (level < minDescription) return '';
  const whole = `: ${escaped(description)}`;
  if (approximateTokens(whole) <= level) return whole;
  const telling = description.replace(leadIn, '');
  // Truncates before escaping, so that no entity is split.
  for (let tokens = level - 0.5; tokens >= 1; tokens -= 1) {
    const cut = `: ${escaped(cutToTokens(telling, tokens))}`;
    if (cut.length > 2 && approximateTokens(cut) <= level) return cut;
  }
  return '';
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
