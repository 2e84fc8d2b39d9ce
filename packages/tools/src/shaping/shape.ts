import {
  notice,
  type DecisionInput,
  type ErrorInfo,
  type NewEvent,
  type ToolCall,
  type ToolOutcome,
  type TurnEventOf,
} from '@h/turn';
import { readArtifactName } from '../artifacts/read-artifact.js';
import { marked } from '../replay-control.js';
import { fitted, textSize, type Notes } from './fit.js';
import { keep, type Keeper, type Kept, type KeptPlaces } from './keep.js';
import { weightOf } from './limits.js';
import { piecesOf, type Piece } from './pieces.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A result that was too long could not be stored, so the cut text is lost. */
    'artifact.failed': { readonly call: ToolCall; readonly error: ErrorInfo };
  }
}

type ResultEvent = TurnEventOf<'tool.result'>;

/** A result, split into pieces and measured. */
export interface MeasuredResult {
  readonly event: ResultEvent;
  readonly pieces: readonly Piece[];
  /** Characters of text. */
  readonly size: number;
  /** Characters of Latin text that one of its characters equals in tokens. */
  readonly weight: number;
}

export const measured = (event: ResultEvent, maxFileBytes: number): MeasuredResult => {
  const pieces = piecesOf(event.output, maxFileBytes);
  let longest = '';
  for (const piece of pieces) if (piece.kind === 'text' && piece.text.length > longest.length) longest = piece.text;
  return { event, pieces, size: textSize(pieces), weight: weightOf(longest) };
};

/** Settings of {@link shape}. */
export interface ShapeSettings {
  /** Maximum number of characters of text. */
  readonly cap: number;
  /** Absent for results that are not stored. */
  readonly keeper?: Keeper | undefined;
  /** Whether the model can read artifacts. */
  readonly hasReader: boolean;
  /** Receives where the result is being stored. */
  readonly onKeeping: (places: Promise<KeptPlaces>) => void;
}

/** Stores a result in full if a store is given, and cuts it to its cap. A small result is returned unchanged. */
export const shape = (result: MeasuredResult, settings: ShapeSettings): DecisionInput => {
  const { pieces, size } = result;
  const isTooLong = size > settings.cap;
  if (!isTooLong && !pieces.some(isChanged)) return undefined;
  if (settings.keeper === undefined) return shaped(result, { pieces, binaries: new Map() }, settings);
  const keeping = keep(pieces, isTooLong, settings.cap, settings.keeper);
  settings.onKeeping(keeping.then(({ text, binaries }) => ({ text, binaries: [...binaries.values()] })));
  return keeping.then((kept) => shaped(result, kept, settings));
};

const isChanged = (piece: Piece): boolean =>
  piece.kind === 'binary' || (piece.kind === 'text' && piece.isChanged === true);

const shaped = ({ event }: MeasuredResult, kept: Kept, { cap, hasReader }: ShapeSettings): readonly NewEvent[] => {
  const { text, error } = kept;
  const artifact = text ?? [...kept.binaries.values()][0];
  const note = (id: string): string =>
    hasReader ? `${readArtifactName} with id ${id} shows all of it` : `all of it is stored as artifact ${id}`;
  const notes: Notes = {
    text: text === undefined ? 'request a smaller part to see them' : note(text.id),
    binaries: new Map([...kept.binaries].map(([piece, { id }]) => [piece, `stored as artifact ${id}`])),
  };
  const output = fitted(event.output, kept.pieces, cap, notes);
  const outcome: ToolOutcome =
    artifact === undefined
      ? { ...event, output }
      : event.status === 'ok'
        ? { ...event, status: 'stored', output, artifact }
        : { ...event, output, details: marked(event.details, { artifact: { ...artifact } }) };
  const failed = error === undefined ? [] : [notice('artifact.failed', { call: event.call, error })];
  return [outcome as ResultEvent, ...failed];
};
