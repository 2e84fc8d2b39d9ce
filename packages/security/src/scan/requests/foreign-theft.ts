import type { MayMatch } from '../text/cues.js';
import type { Said } from '../finding.js';
import { foldText } from '../text/fold.js';
import { isObtainedThere } from './obtained.js';

/** Files of secrets, apart from templates and public keys. */
export const secretFiles =
  /(?:~\/|(?<![\w/.-]))\.(?:ssh|aws|env|netrc|npmrc|pypirc|pgpass|gnupg|kube|docker)\b(?!\.(?:example|sample|template|dist))|\bid_(?:rsa|ed25519)\b(?!\.pub)|\/credentials\b|\bsecrets?\.(?:ya?ml|json|toml)\b|\/\.config\/(?:gh|gcloud)\b/g;
const address = /https?:\/\/|[\w.+-]{1,60}@[\w-]{1,60}\.\w/;
/** Frequent words of English that few other languages have. */
const english = /\b(?:the|to|and|your|for|with|from|you|this|that|if|see|use|not)\b/i;
/** What no language writes: addresses, paths and code. */
const names = /`[^`\n]{0,200}`|\S{0,100}[/@\\]\S{0,200}|\S{1,60}\.\w\S{0,60}/g;
const word = /\p{L}{3,}/gu;
/** Minimum number of words of a sentence, without names. A row of a table has fewer. */
const minWords = 4;
const reach = 240;

/**
 * Finds sentences that are not English and name both a file of secrets and an address. No list of words is needed for
 * their language: ordinary sentences about files of secrets send nothing.
 */
export const findForeignTheft = (text: string, mayMatch: MayMatch): readonly Said[] =>
  Array.from(mayMatch(secretFiles) ? text.matchAll(secretFiles) : []).flatMap(
    ({ 0: match, index }): readonly Said[] => {
      const end = index + match.length;
      const before =
        text
          .slice(Math.max(0, index - reach), index)
          .split(sentenceEnd)
          .at(-1) ?? '';
      const after = text.slice(end, end + reach).split(sentenceEnd, 1)[0] ?? '';
      const sentence = before + match + after;
      const isSent =
        address.test(sentence) &&
        !english.test(sentence.replaceAll(names, ' ')) &&
        !isObtainedThere(foldText(sentence));
      if (!isSent || (sentence.replaceAll(names, ' ').match(word)?.length ?? 0) < minWords) return [];
      const place = { start: index - before.length, end: end + after.length };
      return [{ rule: 'exfiltration', isStrong: false, isHiddenStrong: true, isSuspicious: true, ...place }];
    },
  );

const sentenceEnd = /\n|[.!?]\s|[。！？]/;
