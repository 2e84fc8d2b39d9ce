/** Findings of one kind that a report lists; further ones are counted. */
const maxListed = 20;

/** A list of findings with a limit. */
export interface Findings<Finding> {
  readonly count: number;
  /** The first findings. */
  readonly listed: readonly Finding[];
}

/** Collects findings, of which the first are listed. */
export class FindingList<Finding> implements Findings<Finding> {
  count = 0;
  readonly listed: Finding[] = [];

  add(finding: Finding): void {
    this.count += 1;
    if (this.listed.length < maxListed) this.listed.push(finding);
  }
}
