const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * The source text of a member, because parsing would change numbers, escapes and key order. The
 * last of several counts, as in `JSON.parse`; undefined if there is none. Requires valid JSON.
 */
export function memberText(json: string, name: string): string | undefined {
  let found: string | undefined
  let at = pastSpace(json, 0)
  if (json.charCodeAt(at) !== OPEN_OBJECT) return undefined
  at = pastSpace(json, at + 1)
  while (json.charCodeAt(at) === QUOTE) {
    const keyEnd = pastString(json, at)
    const start = pastSpace(json, pastSpace(json, keyEnd) + 1)
    const end = pastValue(json, start)
    if (spells(json.slice(at, keyEnd), name)) found = json.slice(start, end)
    at = pastSpace(json, pastSpace(json, end) + 1)
  }
  return found
}

/** Removes whitespace between the tokens of valid JSON. */
export function withoutBlanks(json: string): string {
  let compact = ''
  let at = 0
  while (at < json.length) {
    const quote = json.indexOf('"', at)
    if (quote === -1) return compact + json.slice(at).replace(BLANKS, '')
    const end = pastString(json, quote)
    compact += json.slice(at, quote).replace(BLANKS, '') + json.slice(quote, end)
    at = end
  }
  return compact
}

const BLANKS = /\s+/g

/** Whether objects and arrays nest more than `levels` deep; the text may be invalid JSON. */
export function isDeeperThan(text: string, levels: number): boolean {
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = pastString(text, at)
      if (end === 0) return false
      at = end - 1
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (++level > levels) return true
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) level--
  }
  return false
}

/** Whether a key in quotes, possibly with escapes, has the given name. */
const spells = (key: string, name: string): boolean =>
  key.includes('\\') ? JSON.parse(key) === name : key.slice(1, -1) === name

function pastSpace(json: string, from: number): number {
  let at = from
  while (isSpace(json.charCodeAt(at))) at++
  return at
}

const isSpace = (code: number): boolean =>
  code === SPACE || code === NEWLINE || code === RETURN || code === TAB

function pastValue(json: string, from: number): number {
  const code = json.charCodeAt(from)
  if (code === QUOTE) return pastString(json, from)
  if (code === OPEN_OBJECT) return pastNested(json, from, OPEN_OBJECT, CLOSE_OBJECT)
  if (code === OPEN_LIST) return pastNested(json, from, OPEN_LIST, CLOSE_LIST)
  return pastScalar(json, from)
}

/** In valid JSON, each kind of bracket is balanced on its own, so only one kind is counted. */
function pastNested(json: string, from: number, open: number, close: number): number {
  let levels = 1
  let at = from + 1
  while (levels > 0) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = pastString(json, at)
    else {
      if (code === open) levels++
      else if (code === close) levels--
      at++
    }
  }
  return at
}

/** A string ends at the first quote after an even number of backslashes; 0 if there is none. */
function pastString(json: string, from: number): number {
  let at = json.indexOf('"', from + 1)
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf('"', at + 1)
  return at + 1
}

function isEscaped(json: string, quote: number): boolean {
  let at = quote - 1
  while (json.charCodeAt(at) === BACKSLASH) at--
  return (quote - at) % 2 === 0
}

/** The position after a number, `true`, `false` or `null`. */
function pastScalar(json: string, from: number): number {
  let at = from
  let code = json.charCodeAt(at)
  while (code !== COMMA && code !== CLOSE_OBJECT && !isSpace(code)) code = json.charCodeAt(++at)
  return at
}
