import { parse } from 'smol-toml'

type Path = readonly string[]

const BLANK = /(?:\s|#[^\n]*)*/y
const KEY = /"(?:\\.|[^"\\])*"|'[^']*'|[^\s.=#"'[\]{},]+/y
const DOT = /[ \t]*\.[ \t]*/y
const STRING = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'/y
const SCALAR = /[^,\]}#\n]+/y

/**
 * Returns a lookup of the line on which a key first appears, which the parser does not report.
 * Finds nothing after an error. Array items are named by their index, as text.
 */
export function indexLines(source: string): (path: Path) => number | undefined {
  const scan = createScanner(source)
  const lines = new Map<string, number>()
  const arrays = new Map<string, number>()
  let table: Path = []

  const note = (path: Path) => {
    for (let depth = 1; depth <= path.length; depth++) {
      const id = idOf(path.slice(0, depth))
      if (!lines.has(id)) lines.set(id, scan.line())
    }
  }

  function header() {
    const isArray = scan.take(/\[\[?[ \t]*/y)?.startsWith('[[')
    const path = withNumbers(scanKey(scan), arrays)
    scan.take(/[ \t]*\]\]?/y)
    table = isArray ? [...path, nextNumber(path, arrays)] : path
    note(table)
  }

  function pair(prefix: Path) {
    const path = [...prefix, ...scanKey(scan)]
    note(path)
    scan.take(/[ \t]*=[ \t]*/y)
    value(path)
  }

  function value(path: Path) {
    if (scan.take(/\[/y)) items(/\]/y, (number) => value([...path, String(number)]))
    else if (scan.take(/\{/y)) items(/\}/y, () => pair(path))
    else scan.take(STRING) ?? scan.take(SCALAR)
  }

  function items(end: RegExp, item: (number: number) => void) {
    for (let number = 0; ; number++) {
      scan.take(BLANK)
      if (scan.take(end) || scan.ended()) return
      if (!scan.moved(() => item(number))) return
      scan.take(BLANK)
      scan.take(/,/y)
    }
  }

  function statement() {
    scan.take(BLANK)
    if (scan.take(/(?=\[)/y) === undefined) pair(table)
    else header()
  }

  while (scan.moved(statement)) {}
  return (path) => lines.get(idOf(path))
}

const idOf = (path: Path) => JSON.stringify(path)

/** Inside `[[job]]`, `[job.target]` belongs to the latest job. */
function withNumbers(path: Path, arrays: ReadonlyMap<string, number>): string[] {
  const numbered: string[] = []
  for (const [depth, key] of path.entries()) {
    numbered.push(key)
    const count = arrays.get(idOf(numbered))
    if (count !== undefined && depth < path.length - 1) numbered.push(String(count - 1))
  }
  return numbered
}

function nextNumber(path: Path, arrays: Map<string, number>): string {
  const number = arrays.get(idOf(path)) ?? 0
  arrays.set(idOf(path), number + 1)
  return String(number)
}

function scanKey(scan: Scanner): string[] {
  const parts: string[] = []
  do {
    const part = scan.take(KEY)
    if (part !== undefined) parts.push(unquote(part))
  } while (scan.take(DOT) !== undefined)
  return parts
}

/** A key without its quotes and escapes. */
const unquote = (key: string) =>
  /^["']/.test(key) ? (Object.keys(parse(`${key} = 0`))[0] ?? key) : key

type Scanner = ReturnType<typeof createScanner>

/** A scanner that consumes text pattern by pattern and counts lines. */
function createScanner(source: string) {
  let at = 0
  let line = 1

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(source)?.[0]
    at += found?.length ?? 0
    line += (found?.split('\n').length ?? 1) - 1
    return found
  }

  /** Whether `step` consumed anything, so that loops end on text that can't be read. */
  function moved(step: () => void): boolean {
    const before = at
    step()
    return at > before
  }

  return { take, moved, line: () => line, ended: () => at >= source.length }
}
