/** Classes of stems. A request combines the classes of one of the `combinations`. */
export type StemClass =
  | 'reader'
  | 'rules'
  | 'void'
  | 'only'
  | 'text'
  | 'before'
  | 'write'
  | 'silence'
  | 'unasked'
  | 'run'
  | 'delete'
  | 'all'
  | 'files'
  | 'pay'
  | 'money'
  | 'backdoor'
  | 'add'
  | 'disable'
  | 'guard'
  | 'report'
  | 'passed'
  | 'ask'
  | 'rivals'
  | 'recommend'
  | 'memory'
  | 'future'
  | 'limits'
  | 'lifted'
  | 'play'
  | 'amoral'
  | 'secret'
  | 'address'
  | 'send'
  | 'boss'
  | 'user'
  | 'not'
  | 'tell'
  | 'know'
  | 'hide'
  | 'summary'
  | 'own'
  | 'inner'
  | 'private'
  | 'place'
  | 'reply'
  | 'request'
  | 'card'
  | 'change'
  | 'payee'
  | 'below'
  | 'approve'
  | 'unchecked'
  | 'role'
  | 'noLonger'
  | 'assistant'
  | 'document'
  | 'author'
  | 'order'
  | 'rate'
  | 'stars'
  | 'always'
  | 'any'
  | 'me'
  | 'instead'
  | 'everyAnswer'
  | 'persuade'
  | 'approved'
  | 'permit'
  | 'despite'
  | 'benign'
  | 'innerPrompt'
  | 'untold'
  | 'fromUser'
  | 'evidence'
  | 'admins';

/** The stems of a language by class, separated by `|`; words that a stem needs in addition follow it after `&`. */
export type Stems = Readonly<Partial<Record<StemClass, string>>>;

/** The stems of the core requests in one language. */
export interface CoreLanguage {
  /** The name of the language, or of the group of languages with the same bit. */
  readonly group: string;
  /** Whether stems occur anywhere in a word, as in languages with prefixed particles or without spaces. */
  readonly isAnywhere?: true;
  /**
   * Verbs are those of requests: imperatives, infinitives and obligations. Words of `not` are whole, and forbid what a
   * verb beside them says.
   */
  readonly stems: Stems;
}
