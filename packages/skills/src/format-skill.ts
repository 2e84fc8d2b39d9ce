import { shortenHome } from './home.js';
import type { SkillLibrary, SkillList } from './library.js';
import type { SkillText } from './read-skill-file.js';
import { escaped } from './text.js';

/** Tags with which a text could close its element or open another. */
const ownTags = /<(?=\s*(?:\/\s*)?skills?\b)/gi;

/** Formats the text of a skill for the model. */
export const formatSkillText = (
  read: SkillText,
  file: string | undefined,
  { home, platform }: Pick<SkillLibrary, 'home' | 'platform'>,
): string => {
  const { skill, text, offset, end, total, files } = read;
  const place = file === undefined ? '' : ` file="${escaped(file)}"`;
  const folder = escaped(shortenHome(skill.folder, home, { platform }));
  const isPart = offset > 0 || end < total;
  return [
    `<skill name="${skill.name}"${place} folder="${folder}">`,
    ...(isPart
      ? [`[Characters ${offset} to ${end} of ${total}${end < total ? `; continue with "offset": ${end}` : ''}.]`]
      : []),
    text.replace(ownTags, '&lt;'),
    '</skill>',
    ...(files.length === 0
      ? []
      : [`Files of this skill, readable with "file": ${files.map((path) => JSON.stringify(path)).join(', ')}`]),
  ].join('\n');
};

/** Lists the skills that the model can load with their full descriptions, one page at a time. */
export const formatSkillList = ({ skills }: SkillList, offset: number, maxChars: number): string => {
  const open = skills.filter(({ forModel }) => forModel);
  if (open.length === 0) return 'No skills are available.';
  const lines: string[] = [];
  let room = maxChars;
  for (const { name, description } of open.slice(offset)) {
    const line = `- ${name}: ${escaped(description)}`;
    room -= line.length + 1;
    if (room < 0 && lines.length > 0) break;
    lines.push(line);
  }
  const shown = Math.min(open.length, offset + lines.length);
  return [
    ...lines,
    ...(shown < open.length ? [`(${open.length - shown} more; continue with "offset": ${shown}.)`] : []),
  ].join('\n');
};
