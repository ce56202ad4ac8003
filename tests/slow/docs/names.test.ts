import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { EXIT } from '../../../src/cli/command.ts'
import { leaves } from '../../../src/config/catalogue.ts'
import { FILE_VARIABLE } from '../../../src/config/environment.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { bootTestApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import { plain } from '../../support/page.ts'
import { ROOT } from '../../support/source.ts'

/** Whatever the documentation names has to exist. */

const read = (path: string) => Bun.file(join(ROOT, path)).text()
const namesIn = (folder: string) =>
  readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)

const PAGES = namesIn('docs').filter((name) => name.endsWith('.md'))
const EXAMPLES = namesIn('docs/examples')
const OTHERS = ['compose.example.yaml', 'docs/gatehouse.service', 'Dockerfile']
const texts = new Map<string, string>()
for (const path of ['README.md', 'CONTRIBUTING.md', ...PAGES, ...EXAMPLES, ...OTHERS])
  texts.set(path, await read(path))
const textOf = (path: string) => texts.get(path) ?? ''

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

describe('links', () => {
  test.each(['README.md', 'CONTRIBUTING.md', ...PAGES])(
    'of %s lead to files and headings',
    async (path) => {
      const broken: string[] = []
      for (const link of linksOf(textOf(path))) {
        const [file = '', anchor] = link.split('#')
        const target = file === '' ? path : normalize(join(dirname(path), file))
        if (!(await Bun.file(join(ROOT, target)).exists())) broken.push(link)
        else if (anchor && !anchorsOf(await read(target)).includes(anchor)) broken.push(link)
      }
      expect(broken).toEqual([])
    },
  )

  test('reach every example', () => {
    const linked = PAGES.flatMap((path) => linksOf(textOf(path)).map((link) => basename(link)))
    expect(EXAMPLES.map((path) => basename(path)).filter((name) => !linked.includes(name))).toEqual(
      [],
    )
  })
})

describe('settings', () => {
  const labels = leaves.map(({ label }) => label)
  const variables = leaves.flatMap(({ variable }) => [variable, `${variable}_FILE`])
  const known = [...variables, FILE_VARIABLE, 'GATEHOUSE_COMMIT']

  test.each([...texts.keys()])('and variables that %s names exist', (path) => {
    const named = [...textOf(path).matchAll(/`(\[[a-z.]+\] [a-z_]+)/g)].map(
      ([, label = '']) => label,
    )
    expect(named.filter((label) => !labels.includes(label))).toEqual([])
    const inEnvironment = textOf(path).match(/\bGATEHOUSE_[A-Z_]+/g) ?? []
    expect(inEnvironment.filter((name) => !known.includes(name))).toEqual([])
  })

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

  test.each(PAGES)('in the files that %s shows are valid', (path) => {
    for (const block of blocksOf(textOf(path), 'toml')) {
      const readFile = (file: string) => {
        if (file === '/gatehouse.toml') return block
        return file.endsWith('.p8') ? pem : 'secret'
      }
      const loaded = loadConfig({
        flags: { config: '/gatehouse.toml' },
        env: {},
        cwd: '/',
        readFile,
      })
      expect(loaded.ok ? loaded.warnings : loaded.errors).toEqual([])
    }
  })
})

describe('commands', () => {
  /** A prompt, another account, a container or a loop. */
  const BEFORE =
    /^(\s|\$ |sudo (-u \w+ )?|until |do |docker compose exec gatehouse (?=gatehouse))*(\S*\/)?/

  const commandsIn = (page: string): string[] =>
    [
      ...blocksOf(page, 'sh').map((block) => block.replaceAll('\\\n', ' ')),
      ...blocksOf(page, 'console').flatMap((block) => block.match(/^\$ .+$/gm) ?? []),
      ...[...page.matchAll(/`(gatehouse [a-z][^`]*)`/g)].map(([, command = '']) => command),
    ]
      .flatMap((text) => text.split(/\n|&&|[|;]| +#/))
      .map((line) => /^gatehouse(?:-new)? (\w[^(]*)/.exec(line.replace(BEFORE, '').trim())?.[1])
      .filter((command) => command !== undefined)

  /** What `--help` objects to in the words of a command. */
  async function objectionTo(command: string): Promise<string> {
    const { code, err } = await cli('/nowhere')(...command.trim().split(/\s+/), '--help')
    return code === EXIT.ok ? '' : `${command}: ${err}`
  }

  test.each(PAGES)('that %s shows exist, with their options', async (path) => {
    const refused = await Promise.all(commandsIn(textOf(path)).map(objectionTo))
    expect(refused.filter((objection) => objection !== '')).toEqual([])
  })

  test('are found in shells and in the text, and refused if they do not exist', async () => {
    const page =
      '```sh\ncd / && sudo -u gatehouse gatehouse tenant list\n./gatehouse-new version\n```\n'
    const found = commandsIn(`${page}as \`gatehouse doctor\` says`)
    expect(found).toEqual(['tenant list', 'version', 'doctor'])
    expect(await objectionTo('tenant paint')).toContain('tenant')
    expect(await objectionTo('serve --colour red')).toContain('--colour')
  })
})

test('the tables of routes have every route of users and webhooks, and no other', async () => {
  await using app = await bootTestApp()
  const { paths } = (await app.raw('/openapi.json')).body
  const inWords = (route: string) =>
    route.replace(/\/v1\/(gate|relay)/, '').replaceAll(/\{(\w+_id|name)\}/g, '{id}')
  const routesUnder = (prefix: RegExp) =>
    Object.entries<object>(paths)
      .filter(([path]) => prefix.test(path))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => inWords(`${method.toUpperCase()} ${path}`)),
      )
  const shownIn = (path: string) => {
    const [, table = ''] = /^\| Route +\| Scope .*\n.*\n((?:\|.*\n)+)/m.exec(textOf(path)) ?? []
    return table
      .trim()
      .split('\n')
      .map((row) => inWords(plain(row.split('|')[1]).trim()))
  }
  const gate = [...shownIn('docs/gate.md'), ...shownIn('docs/sign-in.md')]
  const ofGate = /^\/(v1\/gate|access|public\/gate|auth\/self-service)\//
  expect(gate.toSorted()).toEqual(routesUnder(ofGate).toSorted())
  expect(shownIn('docs/relay.md').toSorted()).toEqual(routesUnder(/^\/v1\/relay\//).toSorted())
})
