/** Matches a pause in a command, whatever its length. */
const sleepLength = /\bsleep +[\d.]{1,20}[smhd]?(?![\w.])/g;
/** Matches where a command writes its errors, or a copy of its output. What it prints is in its result. */
const copies = / ?2>(?:&1|\/dev\/null)| ?2> ?\/tmp\/[\w./-]{1,100}| ?\| ?tee (?:-a )?\/tmp\/[\w./-]{1,100}/g;
/** Matches the end of a command that writes its output to a temporary file and shows that. */
const shownCopy = / ?> ?(\/tmp\/[\w./-]{1,100}) ?(?:;|&&) ?cat \1$/;
/** Matches how a command ends, if a failure or the length of its output does not matter. */
const ending = /(?: ?(?:;|\|\| ?true|; ?true)){1,4}$|(\| ?(?:head|tail)) -(?:[nc] ?)?\d{1,9}$/;
/** Matches what limits or measures the time of a command. */
const timed = /(^|&& |; )(?:time|timeout \d{1,9}[smhd]?) /g;
/** Matches the spellings of a folder. */
const folder = /^cd ["']?([\w./~-]{1,200}?)(?:\/\.?)?["']? ?(?:&&|;) ?/;
/** A literal word, without what a shell would replace in it. */
const literal = String.raw`"[^"$\x60\\\n]{0,200}"|'[^'\n]{0,200}'|[\w.,:=!@%/+-]{1,100}`;
/** Matches a command that prints literal words, between others. */
const printed = new RegExp(
  String.raw`(^|&& ?|; ?|\n)(echo(?: -[neE]{1,3})?)((?: (?:${literal}))+)(?=$| ?&&| ?;|\n)`,
  'g',
);
/** Placeholder for literal words that a command prints: a private-use character. */
const label = '\uE001';
const maxLabels = 8;
const cutter = /\b(?:head|tail|sed|awk)\b/g;

/** Returns a shell command in a form that is equal for commands that do the same. */
export const commandText = (line: string): string => {
  const own = withoutCopies(withoutLabels(line));
  const bare = mayDiffer.test(own) ? withoutOutputs(withoutComments(own)) : own.trim();
  const start = bare.startsWith('cd ') ? bare.replace(folder, 'cd $1 && ') : bare;
  const text = start.replaceAll(sleepLength, 'sleep').replaceAll(timed, '$1');
  // With another one before it, the number says which part is shown.
  return (text.match(cutter)?.length ?? 0) > 1 ? text : text.replace(ending, '$1');
};

/** Whether a command may print literal words. With a here-document, the words may be content of a file. */
const mayPrint = (line: string): boolean => line.includes('echo ') && !line.includes('<<');

/** Replaces the literal words that a command prints. */
const withoutLabels = (line: string): string => (mayPrint(line) ? line.replaceAll(printed, `$1$2 ${label}`) : line);

/** Replaces the lines of an output that are literal words of the command, which say nothing about what it did. */
export const withoutPrinted = (line: string, output: string): string => {
  if (!mayPrint(line)) return output;
  return Array.from(line.matchAll(printed), ([, , , words = '']) => wordsOf(words))
    .slice(0, maxLabels)
    .reduce((rest, words) => (rest.includes(words) ? replaceLine(rest, words) : rest), output);
};

const wordsOf = (words: string): string =>
  Array.from(
    words.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g),
    ([word, double, single]) => double ?? single ?? word,
  ).join(' ');

const replaceLine = (text: string, line: string): string =>
  line === '' ? text : `\n${text}\n`.replaceAll(`\n${line}\n`, `\n${label}\n`).slice(1, -1);

/** Returns a command without the temporary copies of what it prints. */
export const withoutCopies = (line: string): string =>
  line.includes('>') || line.includes('tee ') ? line.replaceAll(copies, '').replace(shownCopy, '') : line;

/** Matches comments, blanks, and temporary outputs. */
const mayDiffer = /#|\s\s|>\s?\/tmp\//;

/** Maximum number of temporary files whose names are replaced. */
const maxOutputs = 8;

/** Replaces the names of temporary files that a command writes and reads itself. */
const withoutOutputs = (line: string): string =>
  Array.from(line.matchAll(/>\s?(\/tmp\/[\w./-]{1,100})/g), ([, name = '']) => name)
    .slice(0, maxOutputs)
    .reduce((rest, name) => (rest.split(name).length > 2 ? rest.replaceAll(name, '/tmp/output') : rest), line);

/** Removes comments and blanks from a shell command, except in here-documents and quotes, where they are content. */
const withoutComments = (line: string): string => {
  if (line.includes('<<')) return line;
  let quote = '';
  let kept = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const isFirst = at === 0 || /[\s;&|(]/.test(line.charAt(at - 1));
    if (quote === '' && character === '#' && isFirst) {
      const end = line.indexOf('\n', at);
      if (end < 0) break;
      at = end - 1;
      continue;
    }
    if (quote === '' && character === ' ' && line.charAt(at - 1) === ' ') continue;
    if (character === '\\' && quote !== "'") {
      kept += line.slice(at, at + 2);
      at += 1;
      continue;
    }
    if (quote === character) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    kept += character;
  }
  return kept.trim();
};
