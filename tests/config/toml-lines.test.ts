import { expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { indexLines } from '../../src/config/toml-lines.ts'

function lineOf(source: string, path: string[]) {
  parse(source)
  return indexLines(source)(path)
}

test.each<[string, string, string[], number]>([
  ['at the top', 'a = 1\nb = 2', ['b'], 2],
  ['under a deeper heading', '[a.b]\nx = 1\n[a.c]\nx = 2', ['a', 'c', 'x'], 4],
  ['of a table without heading', '\n[a.b.c]\n', ['a', 'b'], 2],
  ['of a table with a later heading', '[a.b]\nx = 1\n[a]\ny = 1', ['a', 'y'], 4],
  ['under a heading with blanks', '[ a . b ] # here\nx = 1', ['a', 'b', 'x'], 2],
  ['of a dotted key under a heading', '[a]\n b . c = 1\n b.d = 1', ['a', 'b', 'd'], 3],
  ['of a key with escapes', '"\\u0061\\"b" = 1', ['a"b'], 1],
  ['under a quoted heading', '[a."b]c"]\nx = 1', ['a', 'b]c', 'x'], 2],
  ['in an inline table', 'x = 0\na = { b = 1, c = { d = 2 } }', ['a', 'c', 'd'], 2],
  ['after an inline table', 'a = { b = "}" } # }\nc = 1', ['c'], 2],
  ['after a long list', 'a = [\n 1, # ]\n "]",\n [2, 3],\n]\nb = 1', ['b'], 6],
  ['with Windows line ends', '[a]\r\nx = 1\r\ny = """\r\n\r\n"""\r\nz = 1\r\n', ['a', 'z'], 6],
  ['after a byte order mark', '\ufeff[a]\nx = 1', ['a', 'x'], 2],
  ['of a name of JavaScript', '__proto__ = 1\nconstructor = 2', ['constructor'], 2],
  // Text that looks like a key.
  ['after long text', 'a = """\nport = 1\n[server]\n"""\nport = 2', ['port'], 5],
  ['after empty text', 'a = ""\nb = \'\'\nc = """"""\nd = 1', ['d'], 4],
  ['after very long text', `a = """${'x\n'.repeat(10_000)}"""\nb = 1`, ['b'], 10_002],
])('The line %s is found', (_, source, path, line) => {
  expect(lineOf(source, path)).toBe(line)
})

test.each([
  ['job.0.name', 2],
  ['job.1', 5],
  ['job.1.step.0.x', 7],
  ['job.1.step.1.x', 9],
])('Tables of a list are counted: %s', (path, line) => {
  const first = '[[job]]\nname = "a"\n[job.target]\nurl = "x"\n'
  const source = `${first}[[job]]\n[[job.step]]\nx = 1\n[[job.step]]\nx = 2`
  expect(lineOf(source, path.split('.'))).toBe(line)
})

test('A missing key and a broken document have no line', () => {
  expect(lineOf('a = 1', ['b'])).toBeUndefined()
  expect(lineOf('a = 1', ['a', 'b'])).toBeUndefined()
  expect(lineOf('a = "b = 1"', ['b'])).toBeUndefined()
  for (const source of ['', '= = =', '[[[', 'a = [', 'a = {', '"', "'''", ']', 'a = [[[{{{', ','])
    expect(indexLines(source)(['nothing'])).toBeUndefined()
})
