import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import { EXIT } from '../../../src/cli/command.ts'
import { leaves } from '../../../src/config/catalogue.ts'
import { FILE_VARIABLE } from '../../../src/config/environment.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { bootTestApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import { openPage, plain } from '../../support/page.ts'
import { ROOT } from '../../support/source.ts'

/** All that the documentation names exists. */

const read = (path: string) => Bun.file(join(ROOT, path)).text()
const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))

const PAGES = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const EXAMPLES = filesIn('docs/examples')
const OTHERS = ['compose.example.yaml', 'docs/gatehouse.service', 'Dockerfile']
const texts = new Map<string, string>()
for (const path of ['README.md', 'CONTRIBUTING.md', ...PAGES, ...EXAMPLES, ...OTHERS])
  texts.set(path, await read(path))

const blocksOf = (page: string, ...languages: string[]) =>
  [...page.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)]
    .filter(([, , language = '']) => languages.includes(language))
    .map(([, indent, , text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))

const withoutCode = (page: string) => page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

/** The anchors that GitHub gives to headings. */
const anchorsOf = (page: string) =>
  [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const linksOf = (page: string) =>
  [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target))

test('Links lead to files and headings, and reach every example', async () => {
  const broken: string[] = []
  const linked: string[] = []
  for (const [path, text] of texts) {
    if (!path.endsWith('.md')) continue
    for (const link of linksOf(text)) {
      linked.push(basename(link))
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : normalize(join(dirname(path), file))
      if (!(await Bun.file(join(ROOT, target)).exists())) broken.push(`${path}: ${link}`)
      else if (anchor && !anchorsOf(await read(target)).includes(anchor))
        broken.push(`${path}: ${link}`)
    }
  }
  expect(broken).toEqual([])
  expect(EXAMPLES.filter((path) => !linked.includes(basename(path)))).toEqual([])
})

test('Named settings and variables exist, and the configuration files that are shown are valid', () => {
  const labels = leaves.map(({ label }) => label)
  const variables = leaves.flatMap(({ variable }) => [variable, `${variable}_FILE`])
  const known = [...variables, FILE_VARIABLE, 'GATEHOUSE_COMMIT']
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  for (const [path, text] of texts) {
    const named = [...text.matchAll(/`(\[[a-z.]+\] [a-z_]+)/g)].map(([, label = '']) => label)
    const inEnvironment = text.match(/\bGATEHOUSE_[A-Z0-9_]+/g) ?? []
    const unknown = [
      ...named.filter((label) => !labels.includes(label)),
      ...inEnvironment.filter((name) => !known.includes(name)),
    ]
    expect([path, unknown]).toEqual([path, []])
    const hasSettings = path.startsWith('docs/') && path !== 'docs/manifest.md'
    for (const block of hasSettings ? blocksOf(text, 'toml') : []) {
      const readFile = (file: string) => {
        if (file === '/gatehouse.toml') return block
        return file.endsWith('.p8') ? pem : 'secret'
      }
      const flags = { config: '/gatehouse.toml' }
      const loaded = loadConfig({ flags, env: {}, cwd: '/', readFile })
      expect([path, loaded.ok ? loaded.warnings : loaded.errors]).toEqual([path, []])
    }
  }
})

/** A prompt, another account, a container or a loop. */
const BEFORE =
  /^(\s|\$ |sudo (-u \w+ )?|until |do |docker compose exec gatehouse (?=gatehouse)|kubectl .* -c gatehouse -- )*(\S*\/)?/

const commandsIn = (page: string): string[] =>
  [
    ...blocksOf(page, 'sh').map((block) => block.replaceAll('\\\n', ' ')),
    ...blocksOf(page, 'console').flatMap((block) => block.match(/^\$ .+$/gm) ?? []),
    ...[...page.matchAll(/`(gatehouse [a-z][^`]*)`/g)].map(([, command = '']) => command),
  ]
    .flatMap((text) => text.split(/\n|&&|[;|]| +#/))
    .map((line) => /^gatehouse(?:-new)? (\w[^(]*)/.exec(line.replace(BEFORE, '').trim())?.[1])
    .filter((command) => command !== undefined)

/** What `--help` objects to in the words of a command. */
async function objectionTo(command: string): Promise<string> {
  const { code, err } = await cli('/nowhere')(...command.trim().split(/\s+/), '--help')
  return code === EXIT.ok ? '' : `${command}: ${err}`
}

test('Commands in shells and in the text exist, with their options', async () => {
  const shell =
    '```sh\ncd / && sudo -u gatehouse gatehouse tenant list\n./gatehouse-new version\n```\n'
  const found = commandsIn(`${shell}as \`gatehouse doctor\` says`)
  expect(found).toEqual(['tenant list', 'version', 'doctor'])
  expect(await objectionTo('tenant paint')).toContain('tenant')
  expect(await objectionTo('serve --colour red')).toContain('--colour')
  const shown = new Set(PAGES.flatMap((path) => commandsIn(texts.get(path) ?? '')))
  const objections = await Promise.all([...shown].map(objectionTo))
  expect(objections.filter(Boolean)).toEqual([])
  // Files that root creates beside the database would keep the server from writing.
  const asRoot = /^(?!.*sudo -u gatehouse sqlite3).*\bsqlite3 .*\/var\/lib.*$/gm
  expect([...texts.values()].flatMap((text) => text.match(asRoot) ?? [])).toEqual([])
})

test('The tables of routes have every route with its scopes, and no other', async () => {
  await using app = await bootTestApp()
  const { paths } = (await app.raw('/openapi.json')).body
  const inWords = (route: string) =>
    route.replace(/\/v1\/(gate|relay|passepartout|installation)/, '').replaceAll(/\{\w+\}/g, '{}')
  type Operation = { security?: { apiKey: string[] }[] }
  const routesUnder = (prefix: RegExp) =>
    Object.entries<Record<string, Operation>>(paths)
      .filter(([path]) => prefix.test(path))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { security = [] }]) => {
          const scopes = security.flatMap(({ apiKey }) => apiKey).join(' or ') || 'none'
          return `${inWords(`${method.toUpperCase()} ${path}`)}: ${scopes}`
        }),
      )
  const shownIn = async (name: string) =>
    (await openPage(name))
      .table('Route', 'Scope')
      .map(([route, scope]) => `${inWords(plain(route))}: ${plain(scope)}`)
  const gate = [...(await shownIn('gate.md')), ...(await shownIn('sign-in.md'))].map((row) =>
    // Its key is in the body.
    row.replace('POST /tokens: tokens:write', 'POST /tokens: none'),
  )
  const ofGate = /^\/(v1\/gate|access|public\/gate|auth\/self-service)\//
  expect(gate.toSorted()).toEqual(routesUnder(ofGate).toSorted())
  const relay = routesUnder(/^\/v1\/relay\//).toSorted()
  expect((await shownIn('relay.md')).toSorted()).toEqual(relay)
  const installation = routesUnder(/^\/v1\/installation\//).toSorted()
  expect((await shownIn('installation-api.md')).toSorted()).toEqual(installation)
})
