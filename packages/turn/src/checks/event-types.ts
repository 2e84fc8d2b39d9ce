import { nearestName } from '@h/options';
import { payloads } from './event-checks.js';

/** Whether events of this type only inform: the notices of packages, which the loop neither reads nor journals. */
export const isNotice = (type: string): boolean => !payloads.has(type);

const loopTypes = [...payloads.keys(), 'event.ignored'];
const loopSpaces = [...new Set(loopTypes.map((type) => type.slice(0, type.indexOf('.'))))];

/**
 * Explains why no event of a type can arrive; returns nothing for the loop's types and for notices.
 *
 * The notices of packages are not known here. They have two words (`git.commit`), of which at least one is unlike those
 * of the loop's events; any other type is a misspelling.
 */
export const problemWithType = (type: string): string | undefined => {
  if (loopTypes.includes(type)) return undefined;
  const dot = type.indexOf('.');
  const hasTwoWords = dot !== -1 && dot < type.length - 1;
  const near = hasTwoWords ? nearestType(type.slice(0, dot), type.slice(dot + 1)) : nearestName(type, loopTypes);
  if (near === undefined && hasTwoWords) return undefined;
  const advice =
    near === undefined
      ? `Event types have two words, such as "tool.call".`
      : `Did you mean "${near}"? Name an event of your own after your package.`;
  return `${JSON.stringify(type)} is not an event type. ${advice}`;
};

const nearestType = (space: string, name: string): string | undefined => {
  const owner = nearestName(space, loopSpaces);
  if (owner === undefined) return undefined;
  const start = `${owner}.`;
  const names = loopTypes.filter((type) => type.startsWith(start)).map((type) => type.slice(start.length));
  const found = nearestName(name, names);
  return found && start + found;
};
