import { describe, expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { indexLines } from '../../src/config/toml-lines.ts'

function lineOf(source: string, ...path: string[]) {
  parse(source)
  return indexLines(source)(path)
}

describe('a key is found on the line where it stands', () => {
  test.each<[string, string, string[], number]>([
    ['at the top', 'a = 1\nb = 2', ['b'], 2],
    ['after comments and empty lines', '# a = 1\n\n  # [a]\n\n a = 1', ['a'], 5],
    ['under a heading', '[server]\n\nport = 1', ['server', 'port'], 3],
    ['a heading itself', '\n[server]\n', ['server'], 2],
    ['under a deeper heading', '[a.b]\nx = 1\n[a.c]\nx = 2', ['a', 'c', 'x'], 4],
    ['a table that only a deeper heading names', '\n[a.b.c]\n', ['a', 'b'], 2],
    ['a table whose heading comes later', '[a.b]\nx = 1\n[a]\ny = 1', ['a', 'y'], 4],
    ['under a heading with blanks', '[ a . b ] # here\nx = 1', ['a', 'b', 'x'], 2],
    ['dotted', 'a.b.c = 1', ['a', 'b', 'c'], 1],
    ['dotted under a heading', '[a]\n b . c = 1\n b.d = 1', ['a', 'b', 'd'], 3],
    ['quoted', '"a b" = 1\n\'c.d\' = 2', ['c.d'], 2],
    ['quoted with escapes', '"\\u0061\\"b" = 1', ['a"b'], 1],
    ['quoted in a heading', '[a."b]c"]\nx = 1', ['a', 'b]c', 'x'], 2],
    ['quoted and empty', 'a = 1\n"" = 2', [''], 2],
    ['in an inline table', 'x = 0\na = { b = 1, c = { d = 2 } }', ['a', 'c', 'd'], 2],
    ['after an inline table', 'a = { b = "}" } # }\nc = 1', ['c'], 2],
    ['after a list over lines', 'a = [\n 1, # ]\n "]",\n [2, 3],\n]\nb = 1', ['b'], 6],
    ['in a table in a list', 'a = [\n { x = 1 },\n { x = 2 },\n]', ['a', '1', 'x'], 3],
    ['after a date', 'a = 1979-05-27 07:32:00\nb = 1', ['b'], 2],
    ['with Windows line ends', '[a]\r\nx = 1\r\ny = """\r\n\r\n"""\r\nz = 1\r\n', ['a', 'z'], 6],
    ['after a byte order mark', '\ufeff[a]\nx = 1', ['a', 'x'], 2],
    [
      'named like something of JavaScript',
      'x = 1\n__proto__ = 1\nconstructor = 2',
      ['constructor'],
      3,
    ],
  ])('%s', (_, source, path, line) => {
    expect(lineOf(source, ...path)).toBe(line)
  })
})

describe('text that looks like a key is none', () => {
  test.each<[string, string, string[], number]>([
    ['multi-line', 'a = """\nport = 1\n[server]\n"""\nport = 2', ['port'], 5],
    ['multi-line and literal', "a = '''\nport = 1\n'''\nport = 2", ['port'], 4],
    ['with quotes at its end', 'a = """\n"x"""""\nport = 2', ['port'], 3],
    ['with escaped quotes', 'a = """\n\\"""\nport = 1\n"""\nport = 2', ['port'], 5],
    ['literal with a backslash', "a = 'c:\\'\nport = 2", ['port'], 2],
    ['with a hash', 'a = "# \\" b = 1"\nb = 2', ['b'], 2],
    ['empty', 'a = ""\nb = \'\'\nc = """"""\nd = 1', ['d'], 4],
  ])('%s', (_, source, path, line) => {
    expect(lineOf(source, ...path)).toBe(line)
  })
})

describe('tables of a list go by their number', () => {
  const source =
    '[[job]]\nname = "a"\n[job.target]\nurl = "x"\n[[job]]\n[[job.step]]\nx = 1\n[[job.step]]\nx = 2'

  test.each<[string[], number]>([
    [['job'], 1],
    [['job', '0', 'name'], 2],
    [['job', '0', 'target', 'url'], 4],
    [['job', '1'], 5],
    [['job', '1', 'step', '0', 'x'], 7],
    [['job', '1', 'step', '1', 'x'], 9],
  ])('%j', (path, line) => {
    expect(lineOf(source, ...path)).toBe(line)
  })
})

describe('what is not there has no line', () => {
  test.each<[string, string[]]>([
    ['a = 1', ['b']],
    ['a = 1', ['a', 'b']],
    ['', ['a']],
    ['a = "b = 1"', ['b']],
  ])('%j %j', (source, path) => {
    expect(lineOf(source, ...path)).toBeUndefined()
  })

  test('a broken document ends the search, not the program', () => {
    for (const source of ['= = =', '[[[', 'a = [', 'a = {', '"', "'''", ']', 'a = [[[{{{', ',']) {
      expect(indexLines(source)(['nothing'])).toBeUndefined()
    }
  })

  test('a long text is no obstacle', () => {
    const source = `a = """${'x\n'.repeat(500_000)}"""\nb = 1`

    expect(lineOf(source, 'b')).toBe(500_002)
  })
})
