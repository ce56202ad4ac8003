import { expect, test } from 'bun:test'
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')

/** A file may import from its own room and from those above it in this list, types included. */
const ROOMS = [
  ['package', /^package\.json$/],
  ['drizzle', /^drizzle\//],
  ['config', /^src\/config\//],
  ['db', /^src\/db\//],
  ['platform', /^src\/platform\//],
  ['delivery', /^src\/delivery\//],
  ['http', /^src\/http\//],
  ['engines', /^src\/engines\//],
  ['manifest', /^src\/manifest\//],
  ['operators', /^src\/console\/operators\//],
  ['views', /^views\//],
  ['console', /^src\/console\//],
  ['app', /^src\/app\.ts$/],
  ['supervisor', /^src\/supervisor\//],
  ['failover', /^src\/failover\//],
  ['cli', /^src\/cli\//],
  ['main', /^src\/main\.ts$/],
] as const

const roomOf = (file: string): number => ROOMS.findIndex(([, pattern]) => pattern.test(file))
const engineOf = (file: string) => /^src\/engines\/([^/]+)\//.exec(file)?.[1]

const files = [...new Glob('{src,views,drizzle}/**/*.{ts,tsx}').scanSync(ROOT)]
  .filter((file) => !file.endsWith('.d.ts'))
  .toSorted()
const sources = await Promise.all(
  files.map(async (file) => ({ file, text: await Bun.file(join(ROOT, file)).text() })),
)

/** Without files that a package has but does not export. */
const imports = sources
  .flatMap(({ file, text }) =>
    [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => ({
      from: file,
      to: relative(ROOT, join(ROOT, dirname(file), path)),
    })),
  )
  .filter(({ to }) => !to.startsWith('node_modules/'))

type Import = (typeof imports)[number]
const runsUp = ({ from, to }: Import) => roomOf(to) > roomOf(from)
const shown = (found: Import[]) => found.map(({ from, to }) => `${from} -> ${to}`)

test('Every source and every import is in a room', () => {
  expect(files.length).toBeGreaterThan(50)
  expect(imports.length).toBeGreaterThan(150)
  expect(files.filter((file) => roomOf(file) === -1)).toEqual([])
  expect(shown(imports.filter(({ to }) => roomOf(to) === -1))).toEqual([])
})

test('No file imports from a later room', () => {
  expect(runsUp({ from: 'views/a.tsx', to: 'src/console/pages/a.ts' })).toBe(true)
  expect(shown(imports.filter(runsUp))).toEqual([])
})

test('Imports form no cycle, not even of types', () => {
  const importsFrom = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const cycles: string[] = []
  const follow = (file: string, path: readonly string[]) => {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push([...path.slice(start), file].join(' -> '))
    if (start >= 0 || done.has(file)) return
    for (const { to } of importsFrom.get(file) ?? []) follow(to, [...path, file])
    done.add(file)
  }
  for (const file of files) follow(file, [])
  expect(cycles).toEqual([])
})

test('Engines do not import each other', () => {
  const crossing = imports.filter(({ from, to }) => {
    const [a, b] = [engineOf(from), engineOf(to)]
    return a !== undefined && b !== undefined && a !== b
  })
  expect(shown(crossing)).toEqual([])
})

test('Only the stores of an engine write SQL', () => {
  // The last two only name columns: sealed ones, and those that are exported with a tenant.
  const allowed = /\/(store\/[^/]+|([a-z-]+-)?store|schema|sealed|portable)\.ts$/
  const withSql = imports.filter(
    ({ from, to }) => engineOf(from) && !allowed.test(from) && /\/schema\.ts$/.test(to),
  )
  expect(shown(withSql)).toEqual([])
})

test('The console reads by queries and models, and imports no stores', () => {
  const stores = imports.filter(
    ({ from, to }) =>
      /^src\/console\/(?!operators\/)/.test(from) &&
      /^src\/(delivery|engines|platform)\/.*\bstore\b/.test(to),
  )
  expect(shown(stores)).toEqual([])
})

const OUTSIDE = /Date\.now\(\)|new Date\(\)|Math\.random\(|(?<![.\w])fetch\(|process\.env/
test.each([
  ['the world outside', /^src\/(platform|db|cli|config|main\.ts)/, OUTSIDE],
  ['the system tenant', /^src\/(platform|engines\/gate\/operators)\//, /SYSTEM_TENANT_ID/],
  // Engines and deliveries write in the lane of a tenant, unless only the work finds it out.
  [
    'shared commits',
    /^(?!src\/(engines|delivery))|\/(oauth-states|receivers|identities\/search\/index)\.ts$/,
    /db\.commit\(/,
  ],
])('Few places reach %s', (_, allowed, pattern) => {
  const found = sources.filter(({ file, text }) => !allowed.test(file) && pattern.test(text))
  expect(found.map(({ file }) => file)).toEqual([])
})

/** Code that reads a message, by one of its methods or by a pattern. */
const PARSED =
  /\b(?:message|problem)\??\.(?:startsWith|endsWith|includes|indexOf|lastIndexOf|split|match|matchAll|search|replace)\(|\.(?:exec|test|matchAll?)\((?:[^()\n]*[^\w'"`])?(?:message|problem)\b/g

/** Files that read messages of third parties, which give nothing else. */
const OF_OTHERS = {
  'src/cli/run.ts': 'parseArgs of Node.js',
  'src/cli/sentences.ts': 'errors of the system',
  'src/config/toml-file.ts': 'the TOML parser of Bun',
  'src/engines/passepartout/telegram/client.ts': 'the Bot API',
  'src/http/body.ts': 'JSON.parse',
}

/** A message that begins with its field, which belongs into the options. */
const FIELD_IN_TEXT =
  /\b(?:invalid|conflict|notFound|forbidden|unauthenticated|unavailable|rateLimited)\(\s*['"`][A-Za-z][\w.-]*: |new AppError\(\s*'\w+',\s*['"`][A-Za-z][\w.-]*: /g

const filesWith = (pattern: RegExp) =>
  sources.filter(({ text }) => text.match(pattern)).map(({ file }) => file)

test('No code parses a message, and none begins with its field: field, rule and code are for that', () => {
  expect('LINE.exec(problem)').toMatch(PARSED)
  expect(filesWith(PARSED).toSorted()).toEqual(Object.keys(OF_OTHERS).toSorted())
  expect("invalid('url: must be one')").toMatch(FIELD_IN_TEXT)
  expect(filesWith(FIELD_IN_TEXT)).toEqual([])
})
