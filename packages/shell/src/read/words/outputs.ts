import type { AndOr } from 'unbash';
import type { Output } from './expand-word.js';

/** An unknown output. */
export const nothing: Output = { text: undefined, programs: [] };
/** The output of a command that prints nothing. */
export const silence: Output = { text: '', programs: [] };

/** The output of one of several commands: its text is one of theirs. */
export const oneOf = (outputs: readonly Output[]): Output => {
  const [only] = outputs;
  if (outputs.length === 1 && only !== undefined) return only;
  const texts = outputs.map((output) => output.alternatives ?? [output.text]).flat();
  const alternatives = texts.length <= maxTexts && texts.every((text) => text !== undefined) ? texts : undefined;
  return { ...together(outputs), text: undefined, alternatives };
};

/** Maximum number of texts of which an output may be one. */
const maxTexts = 4;

export const isSilent = ({ text }: Output): boolean => text === '';

/** Commands that print nothing if they fail. */
const allOrNothing = /^(?:echo|command|which|type)$/;

/** The output of `a && b || c`: the part behind `||` prints only if the one before it has failed. */
export const ofLists = ({ commands, operators }: AndOr, outputs: readonly Output[]): Output => {
  if (!operators.includes('||')) return together(outputs);
  const isClear = outputs.every((output, index) => {
    const part = commands[index];
    const isEnd = operators[index] !== '&&';
    const isPlain = part?.type === 'Command' && allOrNothing.test(part.name?.text ?? '');
    return isSilent(output) || (isEnd && (isPlain || index === outputs.length - 1));
  });
  return isClear ? oneOf(outputs.filter((output) => !isSilent(output))) : together([...outputs, nothing]);
};

/** The output of commands that run one after the other. */
export const together = (outputs: readonly Output[]): Output => {
  const [only] = outputs;
  if (outputs.length === 1 && only !== undefined) return only;
  const texts = outputs.map(({ text }) => text);
  return {
    text: texts.length === 0 || texts.includes(undefined) ? undefined : texts.join(''),
    programs: outputs.flatMap(({ programs }) => programs).slice(0, 32),
  };
};
