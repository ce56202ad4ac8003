import { CodeBlock } from './code.tsx'
import type { DiffLine } from './line-diff.ts'

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '-', new: '+', 'left out': ' ' }

/** Changes of a text, line by line. */
export const DiffBlock = ({ title, lines }: { title: string; lines: readonly DiffLine[] }) => (
  <CodeBlock title={title} what="changes">
    {lines.map(({ kind, text }) => {
      const line = `${SIGNS[kind]} ${text}\n`
      if (kind === 'gone') return <del>{line}</del>
      return kind === 'new' ? <ins>{line}</ins> : line
    })}
  </CodeBlock>
)
