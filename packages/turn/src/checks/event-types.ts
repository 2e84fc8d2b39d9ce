import { nearestName } from '@h/options';
import { payloads } from './event-checks.js';

/** Whether events of this type only inform: the notices of packages, which the loop neither reads nor journals. */
export const isNotice = (type: string): boolean => !payloads.has(type);

const loopTypes = [...payloads.keys(), 'event.ignored'];
const loopSpaces = [...new Set(loopTypes.map((type) => splitType(type).space))];

function splitType(type: string): { readonly space: string; readonly name: string } {
  const [space = '', ...rest] = type.split('.');
  return { space, name: rest.join('.') };
}

/**
 * Explains why no event of a type can arrive; returns nothing for the loop's types and for notices.
 *
 * The notices of packages are not known here. They have two words (`git.commit`), of which at least one is unlike those
 * of the loop's events; any other type is a misspelling.
 */
export const problemWithType = (type: string): string | undefined => {
  if (loopTypes.includes(type)) return undefined;
  const { space, name } = splitType(type);
  const near = name === '' ? nearestName(type, loopTypes) : nearestType(space, name);
  if (near === undefined && name !== '') return undefined;
  const advice =
    near === undefined
      ? `Event types have two words, such as "tool.call".`
      : `Did you mean "${near}"? Name an event of your own after your package.`;
  return `${JSON.stringify(type)} is not an event type. ${advice}`;
};

const nearestType = (space: string, name: string): string | undefined => {
  const owner = nearestName(space, loopSpaces);
  const owned = loopTypes.map(splitType).filter((type) => type.space === owner);
  const found = nearestName(
    name,
    owned.map((type) => type.name),
  );
  return found === undefined ? undefined : `${owner}.${found}`;
};
