/**
 * Ids that most providers accept: chat completions of OpenAI allow 40 characters. The prefix is reserved for generated
 * ids.
 */
const usual = /^(?!fit_)[a-zA-Z0-9_-]{1,40}$/;
/** Ids that Mistral's models accept, wherever they run. */
const strict = /^[a-zA-Z0-9]{9}$/;
const strictModels = /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral/i;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Maps ids of tool calls to ids that a model accepts: equal ids to equal ones, different ids to different ones. */
export type ToolCallIds = (id: string) => string;

/** @param model - the name of the model that reads them */
export const toolCallIdsFor = (model: string): ToolCallIds => (strictModels.test(model) ? strictIds() : usualIds());

/** Accepted ids are unchanged and lack the prefix, so that only generated ids can collide. */
const usualIds = (): ToolCallIds => {
  const fitting = fittingIds((id, round) => `fit_${shortId(id, round)}`);
  return (id) => (usual.test(id) ? id : fitting(id));
};

const strictIds = (): ToolCallIds =>
  fittingIds((id, round) => (round === 0 && strict.test(id) ? id : shortId(id, round)));

const fittingIds = (make: (id: string, round: number) => string): ToolCallIds => {
  const given = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    const known = given.get(id);
    if (known !== undefined) return known;
    let round = 0;
    while (taken.has(make(id, round))) round += 1;
    const fitting = make(id, round);
    given.set(id, fitting);
    taken.add(fitting);
    return fitting;
  };
};

/** Nine characters that depend on every character of the id: two 32-bit FNV-1a hashes with different seeds. */
const shortId = (id: string, round: number): string => {
  let [low, high] = [0x811c9dc5 ^ round, 0x1000193 ^ round];
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (low >>> 13);
  }
  let [rest, text] = [(BigInt(high >>> 0) << 32n) | BigInt(low >>> 0), ''];
  for (let index = 0; index < 9; index += 1) {
    text += digits[Number(rest % 62n)];
    rest /= 62n;
  }
  return text;
};
