import { join } from 'node:path'

/** One fault: `replacement` takes the place of the line `line` (counted from 1) of `path`. */
export interface Mutant {
  /** Stays the same while the line and its file do. */
  id: string
  area: string
  operator: string
  path: string
  line: number
  original: string
  replacement: string
}

type Edit = (line: string) => string[]

/** A version of the line for each match: `of` gets the match and its groups. */
const replaceEach =
  (pattern: RegExp, of: (...found: string[]) => string): Edit =>
  (line) =>
    [...line.matchAll(pattern)].map((match) => {
      const end = match.index + match[0].length
      return line.slice(0, match.index) + of(...match) + line.slice(end)
    })

const either =
  (...edits: Edit[]): Edit =>
  (line) =>
    edits.flatMap((edit) => edit(line))

const OTHER_STATUS: Record<string, string> = { '2': '500', '3': '200', '4': '500', '5': '400' }

/** Statements of one line whose effect nothing else has: writes, counts, wake-ups. */
const EFFECT =
  /^\s+(?:await )?(?:\w+\.)+(?:record|add|insert|remove|delete|revoke|update|store|enqueue|wake|count|end|set|forget|put|release|settle|hasten|erase)\w*\([^()]*(?:\([^()]*\)[^()]*)*\)$/

/** The faults, by name. Each edit returns every wrong version of a line. */
const OPERATORS: Record<string, Edit> = {
  condition: either(
    replaceEach(
      /(?<=\bif )\((.+)\)(?= (?:\{|return|throw|continue|break)|$)/g,
      (_, test) => `(!(${test}))`,
    ),
    replaceEach(/ && /g, () => ' || '),
    replaceEach(/ \|\| /g, () => ' && '),
    replaceEach(/\breturn true\b/g, () => 'return false'),
    replaceEach(/\breturn false\b/g, () => 'return true'),
  ),
  bound: either(
    replaceEach(/ ([<>]) /g, (_, than) => ` ${than}= `),
    replaceEach(/ ([<>])= /g, (_, than) => ` ${than} `),
    replaceEach(/(?<= [+-] )1\b(?![\d_.])/g, () => '0'),
    replaceEach(
      /(?<=\b(?:MAX_\w+ = |(?:max|min)(?:Length|Items|imum): ))[\d_]+\b/g,
      (size) => `(1 + ${size})`,
    ),
  ),
  tenant: either(
    replaceEach(
      /\beq\((?:\w+\.)+tenantId, (\$\('\w+'\)|\w+)\)/g,
      (_, id) => `sqlOf\`coalesce(\${${id}}, 1) is not null\``,
    ),
    replaceEach(
      /\btenant_id = (\+?\$tenantId|\$\{\$\('tenantId'\)\}|\w+\.tenant_id)/g,
      (_, id) => `coalesce(${id}, 1) is not null`,
    ),
  ),
  status: either(
    replaceEach(
      /(?<=\bstatus(?:: | = |\())([2-5])\d\d\b/g,
      (_, first) => `${OTHER_STATUS[first as string]}`,
    ),
    replaceEach(
      /(?<=\? )([2-5])\d\d(?= : [2-5]\d\d)/g,
      (_, first) => `${OTHER_STATUS[first as string]}`,
    ),
    replaceEach(
      /(?<=^ {2}[a-z_]+: )([45])\d\d(?=,$)/g,
      (_, first) => `${OTHER_STATUS[first as string]}`,
    ),
  ),
  await: replaceEach(/\bawait (?=[\w.]+\()/g, () => ''),
  header: either(
    (line) => (/^\s*'[a-z]+(-[a-z]+)+': .+,$/.test(line) ? [''] : []),
    (line) =>
      /^\s*(?:set\.headers[.[]|(?:\w+\.)*headers\.(?:set|append)\().+$/.test(line) ? [''] : [],
  ),
  commit: either(
    replaceEach(
      /(?<![\w.])(?:db\.)?commit\((?=(?:async )?\()/g,
      () => '(async (run: () => unknown) => run())(',
    ),
    (line) => (EFFECT.test(line) ? [';'] : []),
  ),
  escape: either(
    replaceEach(
      /\b(?:encodeURIComponent|escapeHtml|escapeLabel|RegExp\.escape|oneLine)\(/g,
      () => '(',
    ),
    replaceEach(/\bisSame\(/g, () => '!isSame('),
  ),
}

const AREAS: Record<string, string[]> = {
  gate: ['src/engines/gate/'],
  relay: ['src/engines/relay/'],
  clockwork: ['src/engines/clockwork/'],
  passepartout: ['src/engines/passepartout/'],
  platform: ['src/platform/'],
  delivery: ['src/delivery/'],
  http: ['src/http/', 'src/app.ts'],
  db: ['src/db/'],
  console: ['src/console/'],
  views: ['views/'],
  cli: ['src/cli/', 'src/config/'],
}

/** Up to `most` faults of each kind in each area, chosen by their hash: the same for the same sources. */
export async function mutantsOf(root: string, most: number): Promise<Mutant[]> {
  const chosen: Mutant[] = []
  for (const [area, prefixes] of Object.entries(AREAS)) {
    const all = await possibleMutants(root, area, prefixes)
    for (const operator of Object.keys(OPERATORS)) {
      const some = all.filter((mutant) => mutant.operator === operator)
      chosen.push(...some.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, most))
    }
  }
  return chosen
}

async function possibleMutants(root: string, area: string, prefixes: string[]): Promise<Mutant[]> {
  const paths = [...new Bun.Glob('{src,views}/**/*.{ts,tsx}').scanSync(root)]
    .filter((path) => prefixes.some((prefix) => path.startsWith(prefix)))
    .filter((path) => !path.endsWith('.d.ts'))
    .sort()
  const mutants: Mutant[] = []
  for (const path of paths) {
    const text = await Bun.file(join(root, path)).text()
    const lines = text.split('\n')
    const isSkipped = nonCode(lines)
    lines.forEach((original, at) => {
      if (isSkipped[at]) return
      for (const [operator, edit] of Object.entries(OPERATORS))
        for (const replacement of edit(original)) {
          if (replacement === original) continue
          const id = Bun.hash(
            [path, operator, original.trim(), replacement.trim()].join('\0'),
          ).toString(36)
          const mutant = { id, area, operator, path, line: at + 1, original, replacement }
          if (stillParses(text, mutant)) mutants.push(mutant)
        }
    })
  }
  return unique(mutants)
}

/** Which lines are comments, imports or types: nothing that runs. */
function nonCode(lines: string[]): boolean[] {
  let inside: RegExp | undefined
  return lines.map((line) => {
    if (inside) {
      if (inside.test(line)) inside = undefined
      return true
    }
    if (/^\s*\/\*/.test(line)) {
      if (!line.includes('*/')) inside = /\*\//
      return true
    }
    if (/^(import|export) \{$/.test(line)) inside = /^\}/
    if (/^(export )?(interface|type) /.test(line) && /[{=(]$/.test(line)) inside = /^[})]|^$/
    return inside !== undefined || /^\s*\/\/|^import |^\s*\*|^(export )?type /.test(line)
  })
}

function unique(mutants: Mutant[]): Mutant[] {
  return [...new Map(mutants.map((mutant) => [mutant.id, mutant])).values()]
}

const transpilers = {
  ts: new Bun.Transpiler({ loader: 'ts' }),
  tsx: new Bun.Transpiler({ loader: 'tsx' }),
}

function stillParses(text: string, mutant: Mutant): boolean {
  try {
    transpilers[mutant.path.endsWith('x') ? 'tsx' : 'ts'].transformSync(mutated(text, mutant))
    return true
  } catch {
    return false
  }
}

/** The text of a file with the fault in it. */
export function mutated(text: string, { line, replacement }: Mutant): string {
  const lines = text.split('\n')
  lines[line - 1] = replacement
  const needed = replacement.includes('sqlOf`')
    ? "import { sql as sqlOf } from 'drizzle-orm'\n"
    : ''
  return needed + lines.join('\n')
}
