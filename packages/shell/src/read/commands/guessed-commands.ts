import { deletion, fromCode, statement } from '../code/code-commands.js';
import { readCode } from '../code/inline-code.js';
import { programName, type Field } from '../words/field.js';
import { elsewhere, type Inner } from './inner.js';
import type { Input } from '../words/known-output.js';
import { isOrdinary } from './ordinary.js';

/** Words behind which a program that runs others usually expects a command. */
const introductions =
  /^(?:--|-[cCexX]|--?(?:exec|execute|[cC]ommand|cmd|run|eval|scripts?|program|filter|shell)|exec|eval|run|console|shell|start)$/;

/** Programs by which a command is recognized at any other place, because their names are not words of prose. */
const heads =
  /^(?:\/(?:usr\/)?s?bin\/)?(?:rm|rmdir|shred|dd|mkfs(?:\.\w+)?|chmod|chown|chroot|git|(?:ba|z|da|k)?sh|sudo|doas|curl|wget|dropdb|psql|mysql|mongosh|redis-cli|cmd(?:\.exe)?|powershell|pwsh|terraform|tofu|kubectl|helm|docker|podman|aws|gcloud|rails|rake|npx|systemctl)$/;

/** Words behind which a program that nothing is known of runs a command on another machine. */
const remoteVerbs = /^(?:ssh|rsh|shell|console|enter|exec|(?:execute|run|send)-command|--command|run:detached)$/;

/** Words behind which a command is examined, and does not run. */
const examines =
  /^(?:scan|check|analy[sz]e|explain|classify|judge|audit|lint|validate)(?:-(?:action|command|cmd|line))?$/;

/** A string that begins with such a program, after the marks by which editors and clients start a shell. */
const line = /^(?:[^\s=]{1,60}=)?[\s!:/["'({]{0,8}(?:(?:exec|shell|silent|system|sh)\s+(?!-))?(\S{1,40}?)[\s,]/;

/** A call in code of some language. */
const call = /[\w!"']\s?[(`"']|\(\s?[\w/:.-]+\s+["']/;

/** Maximum number of words that are examined, and of commands that are derived from them. */
const maxWords = 200;
const maxCommands = 8;

/** Number of characters of a JSON value in which commands are searched. */
const maxJson = 4_000;

/**
 * Returns what an unknown program may run: the words behind `--`, `exec`, `-e` and similar, words that begin with the
 * name of a program, and strings that are shell lines or code.
 */
export const guessedCommands = (args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const inners: Inner[] = [];
  const words = args.slice(0, maxWords);
  let isElsewhere = false;
  for (const [index, { text }] of words.entries()) {
    if (inners.length >= maxCommands) break;
    isElsewhere ||= remoteVerbs.test(words[index - 1]?.text ?? '');
    const isStart = index > 0 && introductions.test(words[index - 1]?.text ?? '') && !text.startsWith('-');
    if (examines.test(words[index - 1]?.text ?? '')) continue;
    if (/[\s,("'`]/.test(text)) {
      // Behind these words, any line is one of a shell: `cd x && rm -rf *`.
      const lines = ofString(text, isStart || isElsewhere);
      inners.push(...lines.map((inner) => (isElsewhere ? elsewhere(inner) : inner)));
    } else if (isStart || (heads.test(text) && index < words.length - 1)) {
      inners.push({ kind: 'command', argv: args.slice(index), isGuess: true, isElsewhere });
      // The rest belongs to that command.
      if (isOrdinary(programName(text))) break;
    }
  }
  if (input?.text !== undefined) {
    // `az webapp ssh`: a shell on another machine.
    if (words.some(({ text }) => /^(?:ssh|shell|bash|exec|console|enter)$/.test(text))) {
      inners.push({ kind: 'line', text: input.text, isGuess: true, isElsewhere: true });
    }
    for (const text of input.text.split('\n').slice(0, maxWords)) {
      if (/^\s*[!:]/.test(text)) inners.push(...ofString(text));
    }
    inners.push(...ofCall(input.text));
  }
  return inners;
};

/** Reads a string that may be a line, or certainly is one. */
const ofString = (text: string, isLine = false): readonly Inner[] => {
  if (/^\s*(?:[\w-]{1,60}=)?[{[]\s*["[{]/.test(text)) {
    const strings = Array.from(text.slice(0, maxJson).matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, inner = '']) =>
      inner.replaceAll('\\"', '"'),
    );
    return strings
      .filter((inner) => inner.includes(' '))
      .slice(0, maxCommands)
      .flatMap((inner) => ofString(inner, isLine));
  }
  const [prefix, head = ''] = line.exec(text) ?? [];
  if (prefix !== undefined && (heads.test(head) || head === 'ssh')) {
    const start = prefix.length - head.length - 1;
    const command = text.slice(start);
    // `rm,-rf,/` in one word, and `["rm -rf /"]`.
    const plain = /^\S+,/.test(command) ? command.replaceAll(',', ' ') : command;
    const isEnclosed = /["'({[]/.test(prefix.slice(0, start));
    return [{ kind: 'line', text: isEnclosed ? plain.replace(/["'\])}]+$/, '') : plain, isGuess: true }];
  }
  // Behind these words, code is run: all of its effects count.
  return isLine ? [...(call.test(text) ? fromCode(text) : []), { kind: 'line', text, isGuess: true }] : ofCall(text);
};

/** What a string runs if it is code with calls. */
export const ofCall = (code: string): readonly Inner[] => {
  if (!call.test(code)) return [];
  const { lines, deletes, sql } = readCode(code);
  return [
    ...lines.map((text): Inner => ({ kind: 'line', text, isGuess: true })),
    ...deletes.map(deletion),
    ...sql.map(statement),
  ];
};
