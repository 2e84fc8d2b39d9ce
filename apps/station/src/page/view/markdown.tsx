import type { ComponentChildren } from 'preact';
import { memo } from './memo.js';
import { parseMarkdown, type Block } from '../state/markdown.js';
import type { Inline } from '../state/markdown-inline.js';
import { head } from '../state/visible.js';

/** Longer texts are cut, so that no answer of a model makes the page slow. */
const maxCharacters = 200_000;
const maxLines = 5_000;

/** The Markdown of a model as elements. Links open in another tab and carry no referrer. */
export const Markdown = memo(({ text }: { readonly text: string }) => {
  const part = head(text, maxLines, maxCharacters);
  return (
    <div class="markdown" dir="auto">
      {parseMarkdown(part.text).map(renderBlock)}
      {!part.isWhole && <p class="cut">The text is too long for this page. The transcript contains all of it.</p>}
    </div>
  );
});

const renderBlock = (block: Block, key: number): ComponentChildren => {
  switch (block.type) {
    case 'heading': {
      // A conversation has its own title, so headings of a message begin one level below.
      const Heading = `h${Math.min(6, block.level + 2)}` as 'h3';
      return <Heading key={key}>{block.children.map(renderInline)}</Heading>;
    }
    case 'paragraph':
      return (
        <p key={key} dir="auto">
          {block.children.map(renderInline)}
        </p>
      );
    case 'code':
      return (
        <pre
          key={key}
          dir="ltr"
          tabIndex={0}
          aria-label={block.language ? `Code, ${block.language}` : 'Code'}
          role="region"
        >
          <code>{block.text}</code>
        </pre>
      );
    case 'list': {
      const items = block.items.map((blocks, index) => <li key={index}>{itemContent(blocks)}</li>);
      return block.start === null ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      );
    }
    case 'quote':
      return <blockquote key={key}>{block.blocks.map(renderBlock)}</blockquote>;
    case 'rule':
      return <hr key={key} />;
    case 'table':
      return (
        <div key={key} class="table-scroll" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, column) => (
                  <th key={column} data-align={block.align[column] ?? undefined}>
                    {cell.map(renderInline)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column} data-align={block.align[column] ?? undefined}>
                      {cell.map(renderInline)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
};

/** An item of one paragraph is a line, not a paragraph. */
const itemContent = (blocks: readonly Block[]): ComponentChildren => {
  const [first, ...rest] = blocks;
  return first?.type === 'paragraph'
    ? [first.children.map(renderInline), ...rest.map(renderBlock)]
    : blocks.map(renderBlock);
};

const renderInline = (node: Inline, key: number): ComponentChildren => {
  if (typeof node === 'string') return node;
  switch (node.type) {
    case 'code':
      return <code key={key}>{node.text}</code>;
    case 'strong':
      return <strong key={key}>{node.children.map(renderInline)}</strong>;
    case 'emphasis':
      return <em key={key}>{node.children.map(renderInline)}</em>;
    case 'strike':
      return <s key={key}>{node.children.map(renderInline)}</s>;
    case 'link':
      return (
        <a key={key} href={node.href} title={node.href} target="_blank" rel="noopener noreferrer">
          {node.children.map(renderInline)}
        </a>
      );
    case 'break':
      return <br key={key} />;
  }
};
