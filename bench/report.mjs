/** Figures as a Markdown table and as a bar chart. */

/** @param {readonly string[]} header @param {readonly (readonly string[])[]} rows */
export const markdownTable = (header, rows) => {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(header),
    `|${header.map((_, index) => (index === 0 ? '---|' : '--:|')).join('')}`,
    ...rows.map(line),
  ].join('\n');
};

const width = 760;
const labelWidth = 300;
const barHeight = 18;
const rowHeight = 26;
const shown = (value) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));
const escape = (text) =>
  text.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * A horizontal bar chart with a logarithmic axis, readable in light and dark pages.
 *
 * @param {string} title
 * @param {readonly { label: string, value: number, isOwn: boolean }[]} bars
 */
export const barChart = (title, bars) => {
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...bars.map(({ value }) => value))));
  const highest = Math.max(...bars.map(({ value }) => value));
  const scale = (width - labelWidth - 90) / Math.log10(highest / lowest);
  const top = 40;
  const rows = bars.map(({ label, value, isOwn }, index) => {
    const y = top + index * rowHeight;
    const length = Math.max(2, Math.log10(value / lowest) * scale).toFixed(1);
    const baseline = y + barHeight - 5;
    return [
      `<text x="${labelWidth - 8}" y="${baseline}" text-anchor="end">${escape(label)}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${length}" height="${barHeight}" rx="2" fill="${isOwn ? '#2f7ed8' : '#9aa4b2'}"/>`,
      `<text x="${labelWidth + Number(length) + 6}" y="${baseline}">${shown(value)}</text>`,
    ].join('\n  ');
  });
  const height = top + bars.length * rowHeight + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
  <style>text { font: 13px system-ui, sans-serif; fill: #57606a } @media (prefers-color-scheme: dark) { text { fill: #adbac7 } }</style>
  <text x="8" y="22" font-weight="600">${escape(title)}</text>
  ${rows.join('\n  ')}
</svg>
`;
};
