import { isPromise, toErrorInfo, type ArtifactReference, type ErrorInfo, type MaybePromise } from '@h/turn';
import pTimeout from 'p-timeout';
import type { ArtifactInput, ArtifactStore } from '../artifacts/store.js';
import type { Piece } from './pieces.js';

/** Removes secrets from text before it is stored. */
export type Redactor = (text: string) => MaybePromise<string>;

/** Result of storing the parts of one result. */
export interface Kept {
  /** The pieces to show; text that was stored is redacted here as well. */
  readonly pieces: readonly Piece[];
  readonly text?: ArtifactReference | undefined;
  readonly binaries: ReadonlyMap<Piece, ArtifactReference>;
  /** Why a part was not stored. */
  readonly error?: ErrorInfo | undefined;
}

/** References to the stored parts of a result, in order. */
export interface KeptPlaces {
  readonly text?: ArtifactReference | undefined;
  readonly binaries: readonly ArtifactReference[];
}

/** Where and how results are stored. */
export interface Keeper {
  readonly store: ArtifactStore;
  readonly redact: Redactor;
  readonly session: string;
  readonly external: boolean;
  /** Artifacts of an identical result, which are referenced instead of stored again. */
  readonly earlier?: Promise<KeptPlaces> | undefined;
}

/**
 * Stores the redacted text of a result as one artifact, and each binary piece as another.
 *
 * Text that cannot be redacted is not stored. A failure to store, or a store that does not settle, does not fail the
 * call: the result is cut without a reference to an artifact.
 */
export const keep = async (
  pieces: readonly Piece[],
  isTextTooLong: boolean,
  cap: number,
  keeper: Keeper,
): Promise<Kept> => {
  const { store, session, external } = keeper;
  const binaries = new Map<Piece, ArtifactReference>();
  let shown = pieces;
  let text: ArtifactReference | undefined;
  let error: ErrorInfo | undefined;
  const earlier = await keeper.earlier;
  try {
    if (isTextTooLong) {
      shown = await redacted(pieces, (text) => redactInTime(keeper.redact, text));
      const whole = shown.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : [])).join('\n');
      if (whole.length > cap) text = earlier?.text ?? (await putInTime(store, { session, external, content: whole }));
    }
    for (const piece of shown) {
      if (piece.kind !== 'binary') continue;
      const { mediaType } = piece;
      const content =
        typeof piece.content === 'string' ? await redactInTime(keeper.redact, piece.content) : piece.content;
      binaries.set(
        piece,
        earlier?.binaries[binaries.size] ?? (await putInTime(store, { session, external, content, mediaType })),
      );
    }
  } catch (thrown) {
    error = toErrorInfo(thrown);
  }
  return { pieces: shown, text, binaries, error };
};

/** A redactor that takes longer has failed, so that its text is not stored and the turn continues. */
const redactTimeoutMs = 30_000;

const redactInTime = (redact: Redactor, text: string): MaybePromise<string> =>
  inTime(redact(text), 'redact()', redactTimeoutMs);

/** As long as a tool may run by default. What is stored later has no reference and expires. */
const putTimeoutMs = 120_000;

const putInTime = (store: ArtifactStore, artifact: ArtifactInput): MaybePromise<ArtifactReference> =>
  inTime(store.put(artifact), 'put() of the artifact store', putTimeoutMs);

const inTime = <Value>(answer: MaybePromise<Value>, name: string, milliseconds: number): MaybePromise<Value> => {
  if (!isPromise(answer)) return answer;
  const message = `${name} did not settle within ${milliseconds} ms, so the result was not stored.`;
  return pTimeout(Promise.resolve(answer), { milliseconds, message });
};

const redacted = (pieces: readonly Piece[], redact: Redactor): Promise<readonly Piece[]> =>
  Promise.all(
    pieces.map(async (piece) => (piece.kind === 'text' ? { ...piece, text: await redact(piece.text) } : piece)),
  );
