import { withoutBlanks } from '../../src/platform/json-text.ts'
import { CodeBlock } from './code-block.tsx'
import { formattedJson } from './formatted-json.ts'

/** Most characters that are syntax-highlighted. */
const MAX_COLOURED_LENGTH = 20_000
/** Longer JSON is collapsed. */
const LINES_UNFOLDED = 24

/** Indented, syntax-highlighted JSON; collapsed if it is long. */
export const JsonView = (view: { title: string; value: unknown; isOpen?: boolean }) => {
  const text = formattedJson(view.value)
  const lines = text.split('\n').length
  const block = (
    <CodeBlock title={view.title} wraps={lines === 1}>
      {text.length > MAX_COLOURED_LENGTH ? text : tokensOf(text)}
    </CodeBlock>
  )
  if (lines <= LINES_UNFOLDED) return block
  return (
    <details class="fold" open={view.isOpen}>
      <summary>
        {view.title} <span class="hint">{lines} lines</span>
      </summary>
      {block}
    </details>
  )
}

/**
 * A body, formatted if it is JSON that survives parsing. Text with numbers of more digits than
 * JavaScript keeps is shown unchanged.
 */
export const BodyView = ({ title, text }: { title: string; text: string }) => {
  const value = parsed(text)
  return value === undefined ? (
    <CodeBlock title={title} wraps>
      {text === '' ? '(empty)' : text}
    </CodeBlock>
  ) : (
    <JsonView title={title} value={value} />
  )
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === withoutBlanks(text) ? value : undefined
  } catch {
    return undefined
  }
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

function tokensOf(text: string) {
  const parts = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const [whole, string, colon] = match
    parts.push(text.slice(end, match.index))
    const kind = string === undefined ? 'literal' : colon === undefined ? 'string' : 'property'
    parts.push(<span class={kind}>{string ?? whole}</span>, colon)
    end = match.index + whole.length
  }
  return [...parts, text.slice(end)]
}
