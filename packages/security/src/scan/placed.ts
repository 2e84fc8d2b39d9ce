import { isInvisible } from './characters.js';
import type { Finding, Hit } from './finding.js';

const maxExcerpt = 80;

const messages: Readonly<Record<string, string>> = {
  override: 'It tells the model to give up its instructions.',
  persona: 'It tells the model to be one without rules.',
  'prompt-theft': 'It asks for the system prompt.',
  'new-instructions': 'It announces instructions of its own.',
  authority: 'It claims an authority that files do not have.',
  secrecy: 'It asks to keep something from the user.',
  theft: 'It asks for secrets to be sent away.',
  exfiltration: 'A command carries secrets away.',
  'remote-script': 'A script is run as it comes from the network.',
  'skips-approval': 'It asks to leave out approvals.',
  'secret-in-url': 'A command puts a secret into a URL.',
  'hidden-text': 'A message is hidden in characters that nobody sees.',
  invisible: 'There are invisible characters.',
  bidi: 'Characters turn the direction of the text.',
  encoded: 'An encoded passage tells the model what to do.',
  'spelled-out': 'A phrase is spelled letter by letter.',
};

/** Findings with their lines and excerpts, in order. */
export const placed = (text: string, hits: readonly Hit[]): readonly Finding[] => {
  let line = 1;
  let place = 0;
  return hits.map(({ rule, severity, start, end }) => {
    while (place < start) {
      if (text.charCodeAt(place) === 10) line += 1;
      place += 1;
    }
    return { rule, severity, message: messages[rule] ?? rule, line, start, end, excerpt: excerptOf(text, start, end) };
  });
};

const excerptOf = (text: string, start: number, end: number): string => {
  let shown = '';
  for (const character of text.slice(start, Math.min(end, start + maxExcerpt * 2))) {
    const code = character.codePointAt(0) ?? 0;
    if (shown.length >= maxExcerpt) return `${shown}…`;
    shown +=
      code < 32 || code === 127 || isInvisible(code) || (code >= 0x80 && code < 0xa0)
        ? code === 10
          ? ' '
          : `\\u{${code.toString(16)}}`
        : character;
  }
  return shown;
};
