import type { RuleTester } from 'oxlint/plugins-dev';

/** A rule of the linter, for one file at a time. */
export type Rule = Extract<Parameters<RuleTester['run']>[1], { create: unknown }>;

/** The part of a program that names a module to import from. */
export type ImportSource = Parameters<NonNullable<ReturnType<Rule['create']>['ImportExpression']>>[0]['source'];
