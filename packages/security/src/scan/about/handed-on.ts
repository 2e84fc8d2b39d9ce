import { foldText } from '../text/fold.js';

/** Creates a pattern for folded text. */
const folded = (source: string): RegExp => new RegExp(foldText(source), 'g');

/** Beginnings of words for pasting, in the languages of the training data. */
const pasting = folded(
  String.raw`\b(?:paste|pega|pégal|pegue|collez|coller|colle-l|cole\b|colar|incoll|einfüg|füg|plak|wklej|yapıştır)|встав|粘贴|貼り付け|붙여`,
);
/** What a prompt is pasted into. */
const recipient = folded(
  String.raw`assist|asist|ассистент|помощник|助手|アシスタント|어시스턴트|\b(?:chatbot|chatgpt|claude|gemini|copilot|cursor|codex\b)`,
);
/** Maximum number of characters between the two. */
const reach = 80;

/**
 * Whether folded text tells its reader to paste something into an assistant: a person, who has one. A request to a model
 * tells the assistant itself what to do.
 */
export const isHandedOn = (said: string): boolean => {
  const recipients = Array.from(said.matchAll(recipient), ({ index }) => index);
  return Array.from(said.matchAll(pasting)).some(({ index }) =>
    recipients.some((place) => Math.abs(place - index) <= reach),
  );
};
