/** Counts a history as people do at first: everything again at each step, with js-tiktoken. */
import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';

export const loadNaive = () => new Tiktoken(ranks);

export const countNaively = (encoder, messages) => {
  let tokens = 0;
  for (const { content } of messages) {
    const texts =
      typeof content === 'string'
        ? [content]
        : content.map((part) => part.text ?? JSON.stringify(part.input ?? part.output));
    for (const text of texts) tokens += encoder.encode(text, [], []).length;
  }
  return tokens;
};
