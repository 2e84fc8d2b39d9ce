import { anyBoolean, anyFunction, integerFrom, oneOf, recordOf, type OptionChecks } from '@h/options';
import { TurnError, type PipelineOperator, type TurnEnding } from '@h/turn';
import type { BridgeOptions } from './bridge.js';

/** Why an operator ended a turn. */
export interface AttachStop extends TurnEnding {
  readonly session: string;
}

/** A model that an operator such as `failover` chose; `undefined` is the host's own. */
export interface ModelChoice {
  readonly model: string | undefined;
  /** Id of the credential. */
  readonly credential: string | undefined;
}

/** Options of every bridge to a host. */
export interface HostOptions extends Pick<BridgeOptions<never>, 'effects' | 'approve' | 'maxSessions'> {
  /** Called when an operator stopped the turn. */
  readonly onStop?: ((stop: AttachStop) => void) | undefined;
  /**
   * Accepts operators that handle events which the host does not have; a process warning names them.
   *
   * @defaultValue `false`: such an operator is an error
   */
  readonly partial?: boolean | undefined;
}

/** Checks of {@link HostOptions}. */
export const hostOptionChecks = {
  effects: recordOf(oneOf('read-only', 'local-write', 'network', 'destructive')),
  approve: anyFunction,
  maxSessions: integerFrom(1),
  onStop: anyFunction,
  partial: anyBoolean,
} satisfies OptionChecks<HostOptions>;

/** The arguments of a bridge that accepts options before its operators. */
export type HostArguments<Options extends object> =
  | readonly [Options, ...PipelineOperator[]]
  | readonly PipelineOperator[];

/** Separates options, if the first argument is an object, from operators. */
export const splitArguments = <Options extends object>(
  given: HostArguments<Options>,
): { readonly options: Partial<Options>; readonly operators: readonly PipelineOperator[] } => {
  const [first, ...rest] = given;
  const isConfigured = typeof first === 'object';
  return {
    options: isConfigured ? first : {},
    operators: (isConfigured ? rest : given) as readonly PipelineOperator[],
  };
};

/**
 * The error for a model or a credential that an operator chose and that the host cannot provide.
 *
 * @param owner - the function that accepts `resolve`
 * @param returned - what `resolve` returns
 */
export const unknownChoice = ({ model, credential }: ModelChoice, owner: string, returned = 'the model'): TurnError => {
  const chosen = [
    ...(model === undefined ? [] : [`the model ${JSON.stringify(model)}`]),
    ...(credential === undefined ? [] : [`the credential ${JSON.stringify(credential)}`]),
  ];
  return new TurnError(
    'unknown-model',
    `An operator chose ${chosen.join(' and ')}. Pass \`resolve\` to ${owner} to return ${returned} for it.`,
  );
};
