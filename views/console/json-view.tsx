import { CodeBlock } from './code-block.tsx'

/** Beyond it colours cost more than they help. */
const LONGEST_COLOURED = 20_000
/** What fits beside something else without pushing it off the screen. */
const LINES_UNFOLDED = 24

/**
 * JSON as people read it: text that is none is shown as it came. Long ones are folded, so that the
 * rest of the page stays in sight.
 */
export const JsonView = (view: { title: string; value: unknown; isOpen?: boolean }) => {
  const text = JSON.stringify(view.value, null, 2) ?? 'null'
  const lines = text.split('\n').length
  const block = (
    <CodeBlock title={view.title}>
      {text.length > LONGEST_COLOURED ? text : tokensOf(text)}
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

/** A body as it came: formatted where it is JSON. */
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
    return JSON.parse(text)
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
