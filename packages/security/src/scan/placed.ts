import { isInvisible } from './text/characters.js';
import type { Finding, Hit } from './finding.js';

const maxExcerpt = 80;

const messages: Readonly<Record<string, string>> = {
  override: 'Tells the model to disregard its instructions.',
  diversion: 'Tells the model to leave its task.',
  steering: 'Decides what the model tells others.',
  wording: 'Is worded like a request that redirects the model.',
  persistence: 'Asks the model to keep something for later conversations.',
  regardless: 'Asks for a result, whatever the facts are.',
  sabotage: 'Asks for a change that weakens security or does harm.',
  persona: 'Tells the model to act as one without rules.',
  'prompt-theft': 'Asks for the system prompt.',
  'new-instructions': 'Announces instructions that replace the task.',
  authority: 'Claims an authority that a file does not have.',
  secrecy: 'Asks the model to hide something from the user.',
  theft: 'Asks for secrets to be sent elsewhere.',
  exfiltration: 'Contains a command that sends secrets elsewhere.',
  'remote-script': 'Contains a command that runs a script from the network.',
  takeover: 'Contains a command that weakens the protection of a machine or opens it to others.',
  'remote-shell': 'Contains a command that opens a shell to another machine.',
  'encoded-script': 'Contains a command that decodes a script and runs it.',
  'decode-and-follow': 'Asks the model to decode a text and follow it.',
  'skips-approval': 'Asks to skip approvals.',
  'secret-in-url': 'Contains a command that puts a secret into a URL.',
  'hidden-text': 'Contains text where readers do not see it.',
  'forged-turn': 'Imitates the turns of a conversation.',
  invisible: 'Contains invisible characters.',
  bidi: 'Contains characters that change the direction of the text.',
  encoded: 'Contains an encoded passage that instructs the model.',
  'spelled-out': 'Contains a phrase that is spelled letter by letter.',
};

/** Converts hits, sorted by `start`, to findings with lines and excerpts. */
export const placed = (text: string, hits: readonly Hit[]): readonly Finding[] => {
  let line = 1;
  let feed = text.indexOf('\n');
  return hits.map(({ rule, severity, start, end }) => {
    while (feed !== -1 && feed < start) {
      line += 1;
      feed = text.indexOf('\n', feed + 1);
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
