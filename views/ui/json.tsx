import { withoutBlanks } from '../../src/platform/json-text.ts'
import { CodeBlock } from './code.tsx'

/** Most characters that indentation may add: deep nesting grows a body quadratically. */
const MAX_ADDED = 500_000
const STEP = 2

/** Indented JSON, or one line if indentation would add too much. */
export function formattedJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return addedTo(text) > MAX_ADDED ? text : JSON.stringify(value, null, STEP)
}

/** Approximate number of characters that indentation adds to compact JSON. */
function addedTo(text: string): number {
  let [depth, added] = [0, 0]
  let isInText = false
  for (let at = 0; at < text.length && added <= MAX_ADDED; at++) {
    const character = text[at]
    if (character === '"') isInText = !isInText
    else if (isInText && character === '\\') at++
    else if (!isInText) {
      if (character === '{' || character === '[') depth++
      else if (character === '}' || character === ']') depth--
      else if (character !== ',') continue
      added += depth * STEP + 1
    }
  }
  return added
}

/** Most characters that are syntax-highlighted. */
const MAX_COLOURED_LENGTH = 20_000
/** Longer JSON is collapsed. */
const LINES_UNFOLDED = 24

/** Indented, syntax-highlighted JSON; collapsed if it is long. */
export const JsonView = (view: { title: string; value: unknown; isOpen?: boolean }) => {
  const lines = linesOf(formattedJson(view.value))
  const block = <JsonBlock title={view.title} value={view.value} />
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

/** Indented, syntax-highlighted JSON that scrolls if it is long. */
export const JsonBlock = (view: { title: string; value: unknown; wraps?: boolean }) => {
  const text = formattedJson(view.value)
  return (
    <CodeBlock title={view.title} wraps={view.wraps || linesOf(text) === 1}>
      {text.length > MAX_COLOURED_LENGTH ? text : tokensOf(text)}
    </CodeBlock>
  )
}

const linesOf = (text: string): number => text.split('\n').length

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
