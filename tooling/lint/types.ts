import type { RuleTester } from 'oxlint/plugins-dev';

/** A lint rule. */
export type Rule = Extract<Parameters<RuleTester['run']>[1], { create: unknown }>;

/** The syntax node of an import source. */
export type ImportSource = Parameters<NonNullable<ReturnType<Rule['create']>['ImportExpression']>>[0]['source'];
