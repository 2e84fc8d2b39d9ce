/** What all but the strictest providers take: OpenAI's chat completions allow 40 characters. What looks like one of ours is none. */
const usual = /^(?!fit_)[a-zA-Z0-9_-]{1,40}$/;
/** Mistral's own and those of its models wherever they run. */
const strict = /^[a-zA-Z0-9]{9}$/;
const strictModels = /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral/i;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes ids of tool calls that a model takes: the same for the same id, and another one for another. */
export type ToolCallIds = (id: string) => string;

/** @param model name of the model that will read them */
export const toolCallIdsFor = (model: string): ToolCallIds => (strictModels.test(model) ? strictIds() : usualIds());

/** What is taken stays as it is and looks like none of ours, so that only ours have to be told apart. */
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

/** Nine digits that depend on each character: two 32-bit hashes (FNV-1a with different beginnings). */
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
