import {
  forEachChild,
  type Case,
  type Command,
  type CommandArgument,
  type For,
  type If,
  type ParsedScript,
  type Statement,
  type SyntaxNode,
  type While,
} from 'unbash';
import { alternativesIn } from './words/alternatives.js';
import { assignmentReader } from './words/assignments.js';
import { expandText, expandWord, type Output, type RunScript } from './words/expand-word.js';
import { isKnown, unknownText } from './words/field.js';
import type { Input } from './words/known-output.js';
import { hasCommand, isBomb, isEndlessLoop } from './loops.js';
import { isSilent, nothing, ofLists, oneOf, silence, together } from './words/outputs.js';
import { fits } from './files/paths.js';
import { isShownAt, readRedirections } from './redirections.js';
import { innerScope, keepEffects, lookUp, valueOf, type Scope } from './scope.js';
import type { Place, ScriptEvents } from './script-events.js';

/** Reads a parsed script in the order of execution. */
export interface ScriptReader {
  script(script: ParsedScript, scope: Scope, depth: number, input?: Input): Output;
  node(node: SyntaxNode, scope: Scope, depth: number): Output;
}

/** Words of a `for` loop that are evaluated one by one. */
const maxRounds = 16;

/** Creates a reader that reports its findings. */
export const scriptReader = (events: ScriptEvents): ScriptReader => {
  const script = ({ commands, errors, source }: ParsedScript, place: Place): Output => {
    const error = errors?.[0];
    if (error !== undefined) events.unparsable(error.message, source ?? '');
    return statements(commands, place);
  };

  const statements = (list: readonly Statement[], place: Place): Output => {
    const outputs: Output[] = [];
    for (const statement of list) {
      if (events.isTooMuch()) break;
      outputs.push(visit(statement.command, place));
    }
    return together(outputs);
  };

  const visit = (node: SyntaxNode, place: Place): Output => {
    if (events.isTooDeep(place.depth)) return nothing;
    const maybe: Place = { ...place, isCertain: false };
    switch (node.type) {
      case 'Statement':
        return visit(node.command, place);
      case 'CompoundList':
        return statements(node.commands, place);
      case 'Command':
        return command(node, place);
      case 'AndOr':
        return ofLists(
          node,
          node.commands.map((part, index) => visit(part, index === 0 ? place : maybe)),
        );
      case 'Pipeline':
        return pipeline(node.commands, place);
      case 'Redirected': {
        const { redirections, input } = readRedirections(node.redirects, place.scope, runIn(place));
        const { scope } = place;
        const wasShown = scope.isShown;
        scope.isShown = isShownAt(redirections, scope);
        const output = visit(node.command, { ...place, input: input ?? place.input });
        scope.isShown = wasShown;
        if (redirections.length > 0) events.run([], redirections, output, place.scope, place.depth);
        return output;
      }
      case 'Function':
        events.define(node.name.value, node.body, place.scope, isBomb(node.name.value, node.body));
        return silence;
      case 'Subshell':
        return statements(node.body.commands, { ...place, scope: innerScope(place.scope) });
      case 'BraceGroup':
        return statements(node.body.commands, place);
      case 'If':
        return branches(node, place, maybe);
      case 'While':
        if (isEndlessLoop(node.clause, node.body)) events.exhausts();
        return repetition(node, { ...maybe, isRepeated: true });
      case 'For':
      case 'Select':
        return loop(node, maybe);
      case 'Case':
        return choice(node, maybe);
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) if (part !== undefined) within(part, place);
        return statements(node.body.commands, { ...maybe, isRepeated: true });
      case 'Coproc':
        return visit(node.body, place);
      case 'TestCommand':
      case 'ArithmeticCommand':
        within(node, place);
        return silence;
      default:
        within(node, place);
        return nothing;
    }
  };

  const branches = (node: If, place: Place, maybe: Place): Output => {
    const clauses = [statements(node.clause.commands, place)];
    const bodies = [statements(node.then.commands, maybe)];
    for (const { clause, then } of node.elif) {
      clauses.push(statements(clause.commands, maybe));
      bodies.push(statements(then.commands, maybe));
    }
    bodies.push(node.else === undefined ? silence : statements(node.else.commands, maybe));
    return clauses.every(isSilent) ? oneOf(bodies) : together([...clauses, ...bodies, nothing]);
  };

  /** Reads substitutions within tests and arithmetic. */
  const within = (node: SyntaxNode, place: Place): void => {
    if (events.isTooMuch()) return;
    evaluated(node, place);
    if (
      node.type === 'CommandExpansion' ||
      node.type === 'ProcessSubstitution' ||
      node.type === 'ArithmeticCommandExpansion'
    ) {
      if (node.script !== undefined) substituted(node.script, place);
    } else {
      forEachChild(node, (child) => within(child, place));
    }
  };

  /** Evaluates arithmetic and tests: the content of variables, and subscripts. */
  const evaluated = (node: SyntaxNode, place: Place): void => {
    const { scope, depth } = place;
    if (node.type === 'ArithmeticWord') {
      for (const text of valueOf(scope, node.value.replace(/^\$\{?|\}$/g, '')) ?? []) {
        events.evaluate(text, scope, depth);
      }
    } else if (node.type === 'TestUnary' && node.operator === '-v') {
      events.evaluate(expandText(node.operand, scope, runIn(place)), scope, depth);
    } else if (node.type === 'TestBinary' && /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
      for (const { value } of [node.left, node.right]) {
        for (const text of valueOf(scope, value.replace(/^\$\{?|\}$/g, '')) ?? []) events.evaluate(text, scope, depth);
      }
    }
  };

  const substituted = (inner: ParsedScript, place: Place, input?: Input): Output =>
    events.isTooDeep(place.depth + 1)
      ? nothing
      : script(inner, { ...place, scope: hidden(place.scope), depth: place.depth + 1, input: input ?? place.input });

  const runIn =
    (place: Place): RunScript =>
    (inner, scope, reads) => {
      // Nothing is known of what a command writes into `>(script)`.
      const input = reads === true ? { text: undefined, programs: ['?'] } : undefined;
      if (typeof inner !== 'string') return substituted(inner, { ...place, scope }, input);
      events.evaluate(inner, scope, place.depth + 1);
      return nothing;
    };

  const assigner = assignmentReader(events, runIn);

  const pipeline = (commands: readonly SyntaxNode[], place: Place): Output => {
    let output: Output | undefined;
    for (const [index, part] of commands.entries()) {
      if (events.isTooMuch()) break;
      const isLast = index === commands.length - 1;
      const scope = commands.length === 1 ? place.scope : isLast ? innerScope(place.scope) : hidden(place.scope);
      output = visit(part, { ...place, scope, input: output ?? place.input });
    }
    return output ?? nothing;
  };

  const loop = ({ name, wordlist, body }: Pick<For, 'body' | 'name' | 'wordlist'>, place: Place): Output => {
    const words = wordlist?.flatMap((word) => expandWord(word, place.scope, runIn(place)));
    const rounds = words === undefined ? (place.scope.positional ?? [unknownText]) : words.map(({ text }) => text);
    const isEach = rounds.length <= maxRounds && rounds.every(isKnown);
    const outputs = (rounds.length > maxRounds ? [unknownText] : rounds).map((value) => {
      place.scope.variables.set(name.value, [value]);
      return statements(body.commands, { ...place, isRepeated: place.isRepeated || !isEach });
    });
    return together(outputs);
  };

  /** A loop over the lines of a known input, over arguments that `shift` removes, or of unknown length. */
  const repetition = ({ clause, body }: While, place: Place): Output => {
    const { input, scope } = place;
    const round = (own: Place): Output => {
      statements(clause.commands, own);
      return statements(body.commands, place);
    };
    if (input?.text !== undefined && hasCommand(clause, 'read')) {
      const lines = input.text.replace(/\n$/, '').split('\n');
      const texts = lines.length > maxRounds ? [unknownText] : lines;
      return together(texts.map((text) => round({ ...place, input: { ...input, text } })));
    }
    const { positional = [] } = scope;
    if (positional.length < 2 || positional.length > maxRounds || !hasCommand(body, 'shift')) return round(place);
    const outputs = positional.map((_, index) => {
      scope.positional = positional.slice(index);
      return round(place);
    });
    scope.positional = positional;
    return together(outputs);
  };

  /** All branches are read. If it is known which one runs, the variables of the others do not persist. */
  const choice = ({ word, items }: Case, place: Place): Output => {
    const subject = expandText(word, place.scope, runIn(place));
    const patterns = items.map(({ pattern }) => pattern.map((part) => expandText(part, place.scope, runIn(place))));
    const isClear =
      subject.length <= maxSubject &&
      isKnown(subject) &&
      patterns.flat().every((text) => isKnown(text) && isExactPattern(text)) &&
      items.every(({ terminator }) => terminator === undefined || terminator === ';;');
    const branchOf = (convert: (text: string) => string): number =>
      patterns.findIndex((texts) => texts.some((text) => fits(convert(text), convert(subject))));
    const chosen = isClear ? branchOf((text) => text) : -1;
    // With `nocasematch`, case does not matter.
    const isChosen = isClear && chosen === branchOf((text) => text.toLowerCase());
    return oneOf(
      items.map(({ body }, index) =>
        statements(body.commands, isChosen && index !== chosen ? { ...place, scope: innerScope(place.scope) } : place),
      ),
    );
  };

  /** A command with a variable that has several possible values is read with each of them. */
  const command = (node: Command, place: Place): Output => {
    const { variables } = place.scope;
    const [name, ...others] = alternativesIn(node, place.scope);
    if (name === undefined || others.length > maxVariables) return simple(node, place);
    const before = variables.get(name);
    const values = lookUp(place.scope, 'variables', name)?.alternatives ?? [];
    let isChanged = false;
    const outputs = values.map((value, index) => {
      variables.set(name, value);
      const output = command(node, index === 0 ? place : { ...place, isCertain: false });
      isChanged ||= variables.get(name) !== value;
      return output;
    });
    if (isChanged) variables.set(name, [unknownText]);
    else if (before === undefined) variables.delete(name);
    else variables.set(name, before);
    return oneOf(outputs);
  };

  const simple = (node: Command, place: Place): Output => {
    const { scope, depth } = place;
    const assignments = node.prefix.filter((part) => part.type === 'Assignment');
    const words: readonly CommandArgument[] = [...(node.name === undefined ? [] : [node.name]), ...node.args];
    const own = words.length === 0 || assignments.length === 0 ? scope : innerScope(scope);
    for (const assignment of assignments) {
      assigner.set(assignment, own, { ...place, isCertain: place.isCertain || own !== scope });
    }
    const argv = words.flatMap((word) =>
      word.type === 'Word' ? expandWord(word, scope, runIn(place)) : [assigner.argument(word, place)],
    );
    const { redirections, input } = readRedirections(node.redirects, place.scope, runIn(place));
    // `$(<file)` is the content of the file.
    if (argv.length === 0 && redirections.length === 0) return input ?? silence;
    const inner = own === scope ? scope : Object.assign(own, { positional: scope.positional });
    const output = events.run(argv, redirections, input ?? place.input, inner, depth);
    for (const word of words) {
      if (word.type === 'Assignment' && word.value.type === 'ArrayValue') assigner.set(word, scope, place);
    }
    if (argv[0]?.text === 'shift' && place.isCertain) {
      scope.positional = scope.positional?.slice(Number(argv[1]?.text ?? '1'));
    }
    if (own !== scope) {
      keepEffects(
        own,
        scope,
        assignments.map(({ name }) => name),
      );
    }
    return output;
  };

  return {
    script: (parsed, scope, depth, input) =>
      script(parsed, { scope, depth, input, isCertain: true, isRepeated: depth > 1 }),
    node: (node, scope, depth) => visit(node, { scope, depth, input: undefined, isCertain: true, isRepeated: true }),
  };
};

/** Creates a scope for commands whose output is not displayed. */
const hidden = (scope: Scope): Scope => Object.assign(innerScope(scope), { isShown: false });

/** Maximum number of further variables of a command that have several possible values. */
const maxVariables = 2;

/** Maximum length of a word that is compared with the patterns of `case`. */
const maxSubject = 100;

/** Returns whether `fits` decides about a pattern as a shell does. */
const isExactPattern = (pattern: string): boolean => pattern.length <= 40 && !/[[\\(]/.test(pattern);
