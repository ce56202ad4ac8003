import { expect, test } from 'bun:test'
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')

/** Lower rooms first. A file may import from its own room and from those below it. */
const ROOMS = [
  ['package', /^package\.json$/],
  ['drizzle', /^drizzle\//],
  ['config', /^src\/config\//],
  ['db', /^src\/db\//],
  ['platform', /^src\/platform\//],
  ['delivery', /^src\/delivery\//],
  ['http', /^src\/http\//],
  ['engines', /^src\/engines\//],
  ['console and views', /^(src\/console|views)\//],
  ['app', /^src\/app\.ts$/],
  ['cli', /^src\/cli\//],
  ['main', /^src\/main\.ts$/],
] as const

const roomOf = (file: string): number => ROOMS.findIndex(([, pattern]) => pattern.test(file))
const engineOf = (file: string) => /^src\/engines\/([^/]+)\//.exec(file)?.[1]

interface Import {
  from: string
  to: string
}

const sources = [...new Glob('{src,views,drizzle}/**/*.{ts,tsx}').scanSync(ROOT)].filter(
  (file) => !file.endsWith('.d.ts'),
)

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

const importsOf = async (file: string): Promise<Import[]> =>
  [...(await Bun.file(join(ROOT, file)).text()).matchAll(IMPORT)].map(([, path]) => ({
    from: file,
    to: relative(ROOT, join(ROOT, dirname(file), path as string)),
  }))

/** But for files that a package brings and does not export, such as what is embedded of it. */
const imports = (await Promise.all(sources.map(importsOf)))
  .flat()
  .filter(({ to }) => !to.startsWith('node_modules/'))
const shown = ({ from, to }: Import) => `${from} -> ${to}`

test('the sources and their imports are found', () => {
  expect(sources.length).toBeGreaterThan(50)
  expect(imports.length).toBeGreaterThan(150)
})

test('every file is in a room', () => {
  expect(sources.filter((file) => roomOf(file) === -1)).toEqual([])
  expect(imports.filter(({ to }) => roomOf(to) === -1).map(shown)).toEqual([])
})

test('no import runs up: config, db, platform, delivery, http, engines, console, app, cli, main', () => {
  expect(imports.filter(({ from, to }) => roomOf(to) > roomOf(from)).map(shown)).toEqual([])
})

test('imports never form a cycle, not even of types', () => {
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
  for (const file of sources) follow(file, [])

  expect(cycles).toEqual([])
})

test('engines do not import each other', () => {
  const crossing = imports.filter(({ from, to }) => {
    const [a, b] = [engineOf(from), engineOf(to)]
    return a !== undefined && b !== undefined && a !== b
  })

  expect(crossing.map(shown)).toEqual([])
})

test('inside an engine only the store writes SQL', () => {
  // The last two only name columns: what is sealed, and what goes along with a tenant.
  const allowed = /\/(store\/[^/]+|([a-z-]+-)?store|schema|sealed|portable)\.ts$/
  const offenders = sources.filter((file) => file.startsWith('src/engines/') && !allowed.test(file))
  const withSql = imports.filter(
    ({ from, to }) => offenders.includes(from) && /\/schema\.ts$/.test(to),
  )

  expect(withSql.map(shown)).toEqual([])
})

test('time, chance, network and environment are reached in platform, db and main alone', async () => {
  const outside = sources.filter(
    (file) => !/^src\/(platform|db|cli|config)\//.test(file) && file !== 'src/main.ts',
  )
  const reaching = /Date\.now\(\)|new Date\(\)|Math\.random\(|(?<![.\w])fetch\(|process\.env/
  const found = await Promise.all(
    outside.map(async (file) =>
      reaching.test(await Bun.file(join(ROOT, file)).text()) ? [file] : [],
    ),
  )

  expect(found.flat()).toEqual([])
})

test('platform and the operators of gate alone know which tenant is the system tenant', async () => {
  const outside = sources.filter(
    (file) => !/^src\/(platform|engines\/gate\/operators)\//.test(file),
  )
  const texts = await Promise.all(outside.map((file) => Bun.file(join(ROOT, file)).text()))

  expect(outside.filter((_, index) => texts[index]?.includes('SYSTEM_TENANT_ID'))).toEqual([])
})
