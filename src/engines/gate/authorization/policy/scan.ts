import type { FieldError } from '../../../../platform/errors.ts'
import { positionOf } from './text-position.ts'

/** Includes the braces of `when`; conditions are limited to as many levels. */
const MAX_OPEN = 100
const MAX_TOKENS = 8192
const MAX_BACKSLASHES = 1024
const MAX_POLICIES = 250

/** Something wrong with the text of policies. */
export type Mistake = Omit<FieldError, 'field'>

/**
 * Checks a text by its tokens before the engine parses it, because the parser's time grows with the
 * square of open brackets and of invalid escapes, and considerably with every token.
 */
export function flawOfText(text: string): Mistake | undefined {
  const open: string[] = []
  let [tokens, statements, backslashes] = [0, 0, 0]
  for (const { start, token } of tokensOf(text)) {
    tokens++
    if (token === ';') statements++
    if (token.startsWith('"')) backslashes += token.split('\\').length - 1
    else follow(open, token)
    const flaw = flawOfCounts({ open: open.length, tokens, backslashes })
    if (flaw !== undefined)
      return { rule: 'limit', problem: flaw, at: positionOf(text.slice(0, start)) }
    if (statements > MAX_POLICIES)
      return { rule: 'too_many', problem: `must be at most ${MAX_POLICIES} policies` }
  }
  return undefined
}

function flawOfCounts(counts: { open: number; tokens: number; backslashes: number }) {
  if (counts.open > MAX_OPEN) return `more than ${MAX_OPEN} brackets are open here`
  if (counts.tokens > MAX_TOKENS) return `more than ${MAX_TOKENS} words and symbols`
  if (counts.backslashes > MAX_BACKSLASHES) return `more than ${MAX_BACKSLASHES} backslashes`
  return undefined
}

const CLOSING = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
])

/** An unmatched closing bracket is left to the parser, which has a better error message. */
function follow(open: string[], token: string) {
  const closing = CLOSING.get(token)
  if (closing !== undefined) open.push(closing)
  else if (open.at(-1) === token) open.pop()
}

/** The text of a valid policy with a scope that includes everything. */
export function withoutScope(policy: string): string {
  let [before, last] = ['', '']
  let head: number | undefined
  for (const { start, token } of tokensOf(policy)) {
    // An annotation can have the name of an effect, too.
    if (token === '(' && EFFECTS.has(last) && before !== '@') head = start
    if (token === ')' && head !== undefined)
      return `${policy.slice(0, head)}(principal, action, resource)${policy.slice(start + 1)}`
    before = last
    last = token
  }
  return policy
}

const EFFECTS = new Set(['permit', 'forbid'])

/** Splits a text into tokens like the engine does. An unterminated string extends to the end. */
function* tokensOf(text: string): Generator<{ start: number; token: string }> {
  for (let start = 0; start < text.length; ) {
    const token = text[start] === '"' ? stringAt(text, start) : otherAt(text, start)
    if (!BLANK.test(token)) yield { start, token }
    start += token.length
  }
}

function stringAt(text: string, start: number): string {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return text.slice(start, end + 1)
}

/** White space, a comment (which a carriage return ends as well), a word, a number or a sign. */
const OTHER = /\s+|\/\/[^\n\r]*|\??[A-Za-z_]\w*|\d+|::|&&|\|\||[=!<>]=|./sy
const BLANK = /^(\s|\/\/)/

function otherAt(text: string, start: number): string {
  OTHER.lastIndex = start
  return OTHER.exec(text)?.[0] ?? ''
}
