/**
 * The heights of the rows of a long list: an estimate until a row has been measured. Offsets are sums in a Fenwick
 * tree, so a measurement and a search take logarithmic time with any number of rows.
 */
export class RowHeights {
  readonly #estimate: number;
  #heights: Float64Array<ArrayBuffer>;
  #sums: Float64Array<ArrayBuffer>;
  #count = 0;

  constructor(estimate: number) {
    this.#estimate = estimate;
    this.#heights = new Float64Array(64);
    this.#sums = new Float64Array(65);
  }

  get count(): number {
    return this.#count;
  }
  /** The height of all rows. */
  get total(): number {
    return this.offset(this.#count);
  }

  /** Adds rows of the estimated height at the end, or removes rows there. */
  resize(count: number): void {
    if (count > this.#heights.length) {
      const heights = new Float64Array(Math.max(count, this.#heights.length * 2));
      heights.set(this.#heights);
      this.#heights = heights;
      this.#sums = new Float64Array(heights.length + 1);
      const known = this.#count;
      this.#count = 0;
      for (let row = 0; row < known; row += 1) this.#add(row, heights[row] ?? 0);
      this.#count = known;
    }
    for (let row = count; row < this.#count; row += 1) {
      this.#add(row, -(this.#heights[row] ?? 0));
      this.#heights[row] = 0;
    }
    for (let row = this.#count; row < count; row += 1) {
      this.#heights[row] = this.#estimate;
      this.#add(row, this.#estimate);
    }
    this.#count = count;
  }

  /** Stores a measured height and returns by how much it differs from the one before. */
  set(row: number, height: number): number {
    if (row < 0 || row >= this.#count) return 0;
    const change = height - (this.#heights[row] ?? 0);
    if (change === 0) return 0;
    this.#heights[row] = height;
    this.#add(row, change);
    return change;
  }

  /** The sum of the heights of the rows before this one. */
  offset(row: number): number {
    let sum = 0;
    for (let at = Math.min(row, this.#count); at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** The row that covers this offset, or the nearest one. */
  rowAt(offset: number): number {
    let row = 0;
    let rest = offset;
    let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#heights.length)));
    for (; step >= 1; step /= 2) {
      const next = row + step;
      if (next <= this.#count && (this.#sums[next] ?? 0) <= rest) {
        row = next;
        rest -= this.#sums[next] ?? 0;
      }
    }
    return Math.max(0, Math.min(row, this.#count - 1));
  }

  #add(row: number, change: number): void {
    for (let at = row + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + change;
  }
}
