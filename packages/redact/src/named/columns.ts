import { codeAt, is, key as keyClass, lineBreak, space, word } from '../text/characters.js';
import { isMixed, isPassphrase, isWords, passphraseName } from '../values/chosen-value.js';
import { keyStrength, mayEndKey, tailOf, tailsOf, type KeyStrength } from '../names/key-name.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { bars } from '../values/value-extent.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

const lineFeed = 10;
const equals = 61;
const doubleQuote = 34;
const bar = 124;
const minValue = 6;
const maxLine = 512;
/** Maximum length of a name that separators surround. */
const maxName = 48;
const maxRows = 100;
/** Maximum length of the rows of a table. */
const maxRowsLength = 8192;
/** Maximum distance of the line above the names, within what streams retain. */
const maxLookAbove = 240;

/** A column below the name of a secret, or of values whose names are in another column. */
interface Column {
  /** Position of its offsets among those of a line. */
  readonly place: number;
  readonly name: string;
  readonly strength: KeyStrength;
  readonly names?: number | undefined;
}

const valueTitle = /^value$/i;
const nameTitle =
  /^(?:(?:key|variable|parameter|config|setting|secret)?[ _]?name|key|variable|parameter|setting|secret|field|property|output)$/i;

/** Returns the column of values, if the column before names them. */
const valueColumn = (titles: readonly string[]): readonly Column[] => {
  const place = titles.findIndex((title) => valueTitle.test(title));
  const names = titles.findIndex((title) => nameTitle.test(title));
  return place === -1 || names === -1 || names > place
    ? []
    : [{ place: place * 2, name: titles[names] ?? '', strength: undefined, names: names * 2 }];
};

/** Returns the offsets of the cells of the line that starts at an offset of the text: start and end of each. */
type Cells = (text: string, start: number, end: number) => readonly number[];

/** Matches the line between the names and the rows. */
const rule = /^[\s|+:=\u2500-\u257f-]*$/;
const dashes = /[-=─━═]{3}/;
const isRule = (text: string, start: number, end: number): boolean => {
  if (is(codeAt(text, start), word)) return false;
  const line = text.slice(start, end);
  return dashes.test(line) && rule.test(line);
};

const cellsBetween =
  (separator: number, hasBars = false): Cells =>
  (text, start, end) => {
    const offsets: number[] = [];
    let from = start;
    for (let index = start; index <= end; index += 1) {
      const code = index < end ? codeAt(text, index) : separator;
      if (code !== separator && !(hasBars && code > 127 && bars.has(code))) continue;
      offsets.push(from, index);
      from = index + 1;
    }
    return offsets;
  };

const barCells = cellsBetween(bar, true);

/** Returns the cells of lines in a wiki. Two bars separate the names, and one bar the values below them. */
const doubleBarCells: Cells = (text, start, end) =>
  Array.from(text.slice(start, end).matchAll(/(?<=\|)[^|]+(?=\|)/g)).flatMap(({ 0: cell, index }) => [
    start + index,
    start + index + cell.length,
  ]);

/** Returns the cells of lines that are aligned with any number of tabs. */
const tabbedCells: Cells = (text, start, end) =>
  Array.from(text.slice(start, end).matchAll(/[^\t]+/g)).flatMap(({ 0: cell, index }) => [
    start + index,
    start + index + cell.length,
  ]);

/** Returns the offsets of cells that begin at these places of a line. */
const offsetsAt = (places: readonly number[], start: number, end: number): readonly number[] => {
  const offsets: number[] = [];
  for (let index = 0; index < places.length; index += 1) {
    offsets.push(Math.min(end, start + (places[index] ?? 0)), Math.min(end, start + (places[index + 1] ?? end)));
  }
  return offsets;
};

/** Matches a line of names between bars without a rule below, as in wikis and in scenarios of Gherkin. */
const barNames = /^[ \t]{0,24}\|\|?[ \t]{0,8}[A-Za-z][\w .-]*(?:\|\|?[ \t]{0,8}[A-Za-z][\w .-]*){1,16}\|\|?\s*$/;

/** Maximum number of blanks before the bar that begins a row. */
const maxIndent = 24;

/** Finds values below names in a table with bars. @param index an offset in the line of the names */
export const findBarColumns = (reader: Reader, index: number): Secret | undefined => {
  const headEnd = endOfLine(reader, index);
  const nextStart = startOfNext(reader, headEnd);
  if (nextStart === undefined) return undefined;
  const headStart = startOfLine(reader, index);
  const nextEnd = endOfLine(reader, nextStart);
  const hasRule = nextEnd - nextStart >= 5 && isRule(reader.text, nextStart, nextEnd);
  const isHead =
    hasRule ||
    (reader.code(reader.skipSpaces(nextStart, maxIndent)) === bar &&
      barNames.test(reader.text.slice(headStart, headEnd)));
  if (!isHead) return undefined;
  const cells = reader.text.startsWith('||', headStart) ? doubleBarCells : barCells;
  return findRows(reader, index, { headStart, headEnd, ruleEnd: hasRule ? nextEnd : headEnd, cells });
};

/** Finds values below names over a rule. Called for the hyphen that begins the rule. */
export const findRuledColumns = (reader: Reader, index: number): Secret | undefined => {
  const sign = reader.code(index);
  if (reader.code(index + 1) !== sign) return undefined;
  // A column of two letters has a rule of two hyphens.
  if (reader.code(index + 2) !== sign && reader.code(index + 2) !== 32) return undefined;
  const headEnd = index - 1;
  if (headEnd <= reader.barrier || reader.code(index + 3) === 66) return undefined;
  const headStart = startOfLine(reader, headEnd);
  const ruleEnd = endOfLine(reader, index);
  const line = reader.text.slice(index, ruleEnd);
  if (!isRule(reader.text, index, ruleEnd) || !/[+ ]/.test(line.trimEnd())) return undefined;
  if (line.includes('+')) return findRows(reader, index, { headStart, headEnd, ruleEnd, cells: barCells });
  const places = Array.from(line.matchAll(/[-=]{2,}/g), ({ index: place }) => place);
  const cells: Cells = (text, start, end) => offsetsAt(places, start, end);
  return findRows(reader, index, { headStart, headEnd, ruleEnd, cells, places });
};

/** Matches names with at least two spaces between them. */
const spacedNames = /^[A-Z][\w-]*(?: [\w-]+)*(?: {2,}[A-Z][\w-]*(?: [\w-]+)*)+$/;

/** `Password:` in base64, by which a server asks in AUTH LOGIN of SMTP. */
export const passwordPrompt = '334 UGFzc3dvcmQ6';

/** Words that end a heading above a list of secrets. */
const plurals = ['passwords', 'secrets', 'tokens', 'keys'];

/** 1 for the last three letters of the prompt, and of the names in {@link findAlignedColumns}, five bits of each. */
const columnTails = new Uint8Array(32_768);
for (const name of [
  'password',
  'passphrase',
  'passwd',
  'pass',
  'pwd',
  'secret',
  'token',
  'key',
  ...plurals,
  passwordPrompt,
]) {
  for (const tail of tailsOf(name)) columnTails[tail] = 1;
}

/** Returns quickly whether a line that ends here may have the names of columns. */
export const mayEndColumns = (text: string, index: number): boolean => columnTails[tailOf(text, index - 1)] === 1;

/** Finds values below names that are aligned with spaces. Called for the character behind a name that is secret. */
export const findAlignedColumns = (reader: Reader, index: number): Secret | undefined => {
  if (!mayEndColumns(reader.text, index) || !mayEndKey(reader.text, index)) return undefined;
  const headStart = startOfLine(reader, index);
  if (!is(codeAt(reader.text, headStart), word)) return undefined;
  if (headStart > 0 && codeAt(reader.text, headStart - 1) !== lineFeed) return undefined;
  const headEnd = reader.code(index) === lineFeed ? index : endOfLine(reader, index);
  const head = reader.text.slice(headStart, headEnd).trimEnd();
  const rowStart = startOfNext(reader, headEnd);
  if (rowStart === undefined || !spacedNames.test(head)) return undefined;
  const offsets = Array.from(head.matchAll(/(?:^| {2,})(?=[A-Z])/g), ({ 0: gap, index: at }) => at + gap.length);
  const cells: Cells = (text, start, end) => {
    const isAligned = offsets.every((at) => at === 0 || codeAt(text, start + at - 1) === 32);
    return isAligned ? offsetsAt(offsets, start, end) : [];
  };
  if (cells(reader.text, rowStart, endOfLine(reader, rowStart)).length === 0) return undefined;
  return findRows(reader, index, { headStart, headEnd, ruleEnd: headEnd, cells, isLoose: true });
};

/** Returns an expression that matches a line of names with a separator between them. */
const namesWith = (separator: string): RegExp => separated[separator] ?? never;
const separated: Readonly<Record<string, RegExp>> = {
  ',': /^"?[A-Za-z_][\w .-]*"?(?:,"?[\w .-]+"?)+$/,
  ';': /^"?[A-Za-z_][\w .-]*"?(?:;"?[\w .-]+"?)+$/,
  '|': /^[A-Za-z_][\w .-]*(?:\|[\w .-]+)+$/,
  '\t': /^(?:# {0,2})?[A-Za-z_][\w .-]*(?:\t+[\w .-]+)+$/,
};
const never = /(?!)/;
/** Matches a number, which no line of names has. */
const numberCell = /[,;|\t]\d+(?=[,;|\t]|$)/;

/**
 * Returns the end of the name of a column behind the separator at an offset, if another separator, the end of the line or
 * that of the text follows; 0 otherwise.
 */
export const endOfColumn = (text: string, index: number): number => {
  const offset = codeAt(text, index + 1) === doubleQuote ? 1 : 0;
  const start = index + offset + 1;
  if (!is(codeAt(text, start), word) && start < text.length) return 0;
  let end = start;
  // A title may have several words.
  while (end < start + maxName && (is(codeAt(text, end), keyClass) || isBetweenWords(text, end))) end += 1;
  if (end + offset >= text.length || (codeAt(text, end) === 32 && end + 1 >= text.length)) return end;
  const next = codeAt(text, end + offset);
  const isColumn = is(codeAt(text, start), word) && (next === codeAt(text, index) || next === 10 || next === 13);
  return isColumn ? end : 0;
};

/** Returns quickly whether the name of a column behind the separator at an offset may be that of a secret. */
export const mayEndColumn = (text: string, index: number): boolean => {
  const end = endOfColumn(text, index);
  return end !== 0 && (end + 1 >= text.length || mayEndKey(text, end));
};

/** Whether one space is between two words. */
const isBetweenWords = (text: string, index: number): boolean =>
  codeAt(text, index) === 32 && is(codeAt(text, index - 1), word) && is(codeAt(text, index + 1), word);

/** Finds values below names that are separated by commas, semicolons, bars or tabs. Called for a separator before such a name. */
export const findSeparatedColumns = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const separator = codeAt(text, index);
  const nameEnd = endOfColumn(text, index);
  if (nameEnd === 0 || Number.isNaN(reader.code(nameEnd + 1))) return undefined;
  if (!mayEndKey(text, nameEnd)) return undefined;
  const headStart = startOfLine(reader, index);
  const headEnd = endOfLine(reader, nameEnd);
  if (startOfNext(reader, headEnd) === undefined) return undefined;
  const head = text.slice(headStart, headEnd);
  if (!namesWith(String.fromCharCode(separator)).test(head) || numberCell.test(head)) return undefined;
  const cells = head.includes('\t\t') ? tabbedCells : cellsBetween(separator);
  return findRows(reader, index, { headStart, headEnd, ruleEnd: headEnd, cells });
};

/** The names of a table, and how its lines are divided. */
interface Table {
  readonly headStart: number;
  readonly headEnd: number;
  /** End of the line before the first row. */
  readonly ruleEnd: number;
  readonly cells: Cells;
  /** The places where aligned columns begin. */
  readonly places?: readonly number[] | undefined;
  /** Whether the names may be words, so that capitals do not make them those of environment variables. */
  readonly isLoose?: true | undefined;
}

/**
 * Returns the values in the columns of secret names, row by row, as long as the rows have the cells of the names. Rows
 * are read once: not for each name, and not for names within the rows of a table.
 */
const findRows = (reader: Reader, index: number, table: Table): Secret | undefined => {
  const { text } = reader;
  const isWholeLine = table.headStart === 0 || codeAt(text, table.headStart - 1) === 10;
  if (reader.hasAhead || !isWholeLine || !reader.isNewTable(table.ruleEnd)) return undefined;
  const others = isSecretData(reader, table.headStart) ? 'weak' : undefined;
  const names = table.cells(text, table.headStart, table.headEnd);
  if (names.length < 4 || (others === undefined && isRow(reader, index, table, names))) return undefined;
  const columns = columnsOf(text, names, table.isLoose === true);
  if (columns.length === 0) return undefined;
  const more: Secret[] = [];
  let end = table.ruleEnd;
  for (let rows = 0; rows < maxRows && end - table.ruleEnd < maxRowsLength; rows += 1) {
    const start = startOfNext(reader, end);
    if (start === undefined) break;
    end = endOfLine(reader, start);
    if (isRule(text, start, end)) continue;
    const cells = table.cells(text, start, end);
    if (cells.length !== names.length) break;
    // Names that repeat begin another table.
    if (columns.some(({ place, name }) => text.startsWith(name, cells[place]))) break;
    for (const { place, name: title, strength: known, names: at } of columns) {
      const name = at === undefined ? '' : text.slice(cells[at], cells[at + 1]).trim();
      const strength = at === undefined ? known : (strengthIn(title, name) ?? others);
      if (strength === undefined) continue;
      const found = secretIn(reader, name === '' ? title : name, strength, cells[place] ?? 0, cells[place + 1] ?? 0);
      if (found !== undefined) more.push(found);
    }
  }
  const [first] = more;
  return first === undefined ? undefined : { ...first, more };
};

/** Returns the columns below names of secrets, or of values whose names are in another column. */
const columnsOf = (text: string, names: readonly number[], isLoose: boolean): readonly Column[] => {
  const titleAt = (place: number): string =>
    text
      .slice(names[place], names[place + 1])
      .trim()
      .replaceAll('"', '');
  const known: Column[] = [];
  for (let place = 0; place < names.length; place += 2) {
    let end = names[place + 1] ?? 0;
    while (end > (names[place] ?? 0) && isPadding(codeAt(text, end - 1))) end -= 1;
    const name = mayEndKey(text, end) ? titleAt(place) : '';
    const strength = name.length < 3 ? undefined : keyStrength(isLoose ? name.toLowerCase() : name);
    if (strength !== undefined) known.push({ place, name, strength });
  }
  return known.length > 0
    ? known
    : valueColumn(Array.from({ length: names.length / 2 }, (_, place) => titleAt(place * 2)));
};

/** Whether the code is a space or a double quote. */
const isPadding = (code: number): boolean => is(code, space) || code === 13 || code === doubleQuote;

/** Whether the title of Vault for the data of a secret is above a table. */
const isSecretData = (reader: Reader, start: number): boolean =>
  codeAt(reader.text, start - 2) === equals &&
  /= Data =+\n$/.test(reader.text.slice(Math.max(reader.barrier, start - 48), start));

/** Returns the strength of a name in a row. All keys of a service have names of any form. */
const strengthIn = (title: string, name: string): KeyStrength =>
  /^key ?name$/i.test(title) && /^key\d$/i.test(name) ? 'strong' : keyStrength(name);

/** Whether the line before the names, or before its rule, has as many cells, so that the names are a row. */
const isRow = (reader: Reader, index: number, table: Table, names: readonly number[]): boolean => {
  const { text } = reader;
  const floor = Math.max(reader.barrier, index - maxLookAbove);
  const { headStart, cells, places = [] } = table;
  let end = headStart - 1;
  let start = lineStart(text, end, floor);
  if (end > floor && isRule(text, start, end)) {
    end = start - 1;
    start = lineStart(text, end, floor);
  }
  if (end <= floor) return false;
  // The members before a string in JSON whose first line are the names.
  if (/[[({:=] ?$/.test(text.slice(Math.max(start, end - 2), end))) return false;
  if (places.some((place) => place > 0 && !isGapAt(text, start + place, end))) return false;
  const line = cells(text, start, end);
  const isCut = start > 0 && codeAt(text, start - 1) !== 10;
  return line.length === names.length || (isCut && line.length > 2);
};

/** Whether a space is before an offset within a line. */
const isGapAt = (text: string, at: number, end: number): boolean => at <= end && codeAt(text, at - 1) === 32;

const secretIn = (
  reader: Reader,
  name: string,
  strength: KeyStrength,
  from: number,
  to: number,
): Secret | undefined => {
  const raw = reader.text.slice(from, to);
  const trimmed = raw.trim();
  const value = is(trimmed.charCodeAt(0), word) ? trimmed : trimmed.replace(/^(["'`])(.*)\1$/, '$2');
  if (value.length < minValue || /[\s`()<>"]/.test(value) || value.includes(reader.replacement)) return undefined;
  const isSecret =
    strength === 'strong'
      ? looksRandom(value) ||
        isMixed(value, { isQuoted: false }) ||
        (isPassphrase(value) && passphraseName.test(name)) ||
        (/pass|pwd/i.test(name) && isWords(value, name))
      : looksRandom(value) && value.length >= 16 && (!isPublicIdentifier(value) || /token$/i.test(name));
  if (!isSecret || isPlaceholder(value)) return undefined;
  const start = from + raw.indexOf(value);
  return { kind: 'column', start, end: start + value.length };
};

const endOfLine = (reader: Reader, from: number): number => reader.endOfRun(from, lineBreak, maxLine, false);

const startOfLine = (reader: Reader, index: number): number => lineStart(reader.text, index, reader.floor(index));

const lineStart = (text: string, index: number, floor: number): number => {
  let start = index;
  while (start > floor && codeAt(text, start - 1) !== lineFeed) start -= 1;
  return start;
};

/** Returns the start of the line after the one that ends here; `undefined` at the end of the text. */
const startOfNext = (reader: Reader, end: number): number | undefined => {
  const code = reader.code(end);
  if (code === 13) return reader.code(end + 1) === 10 ? end + 2 : undefined;
  return code === 10 ? end + 1 : undefined;
};
