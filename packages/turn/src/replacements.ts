/**
 * The events that the loop waits for, each with what may stand in its place.
 *
 * An operator that removes one of them without putting a substitute there would leave the turn waiting for ever.
 */
const substitutes: Readonly<Record<string, readonly string[]>> = {
  'turn.start': ['turn.start', 'turn.stop'],
  'session.loaded': ['session.loaded', 'turn.stop'],
  'model.request': ['model.request', 'model.response', 'model.error', 'turn.stop'],
  'model.response': ['model.response', 'model.error', 'model.request', 'turn.stop'],
  'model.error': ['model.error', 'model.request', 'model.response', 'turn.stop'],
  'tool.call': ['tool.call', 'tool.result', 'turn.stop'],
  'tool.result': ['tool.result', 'turn.stop'],
  'input.received': ['input.received', 'turn.stop'],
  'approval.answer': ['approval.answer'],
  'history.append': ['history.append', 'history.replace', 'turn.stop'],
  'turn.continue': ['turn.continue', 'turn.stop'],
  'turn.stop': ['turn.stop', 'turn.continue'],
  'turn.end': ['turn.end'],
};

/** What may stand in the place of this event; `undefined` when it may go without a substitute. */
export const substitutesOf = (type: string): readonly string[] | undefined => substitutes[type];
