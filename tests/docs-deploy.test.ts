import { describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { EXIT } from '../src/cli/command.ts'
import { leaves } from '../src/config/catalogue.ts'
import { FILE_VARIABLE } from '../src/config/environment.ts'
import { loadConfig } from '../src/config/index.ts'
import { bootTestApp } from './support/app.ts'
import { cli } from './support/cli.ts'
import { testConfig } from './support/config.ts'
import { temporaryFolder } from './support/folder.ts'

/** What the pages on deployment and the files beside them name has to exist. */

const ROOT = join(import.meta.dir, '..')
const EXAMPLES = readdirSync(join(ROOT, 'docs', 'examples')).map((name) => `docs/examples/${name}`)
const PAGES = ['deploy', 'proxies', 'litestream', 'upgrade', 'security', 'compare'].map(
  (name) => `docs/${name}.md`,
)
const UNIT = 'docs/gatehouse.service'
const COMPOSE = [
  'compose.example.yaml',
  'docs/examples/compose.caddy.yaml',
  'docs/examples/compose.litestream.yaml',
]
const ALL = [...PAGES, ...EXAMPLES, ...COMPOSE, UNIT, 'Dockerfile']

const read = (path: string) => Bun.file(join(ROOT, path)).text()

/** The blocks of code of a page, with their language. */
const blocksOf = (page: string) =>
  [...page.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )

/** As GitHub names the place of a heading. */
const anchorsOf = (page: string) =>
  [...page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(
    ([, title = '']) =>
      title
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
  )

const linksOf = (page: string) =>
  [...page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target))

describe('links', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ]

  test.each(documents)('of %s lead to files and headings that are there', async (document) => {
    const lost: string[] = []
    for (const link of linksOf(await read(document))) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : normalize(join(dirname(document), path))
      const file = Bun.file(join(ROOT, target))
      if (!(await file.exists())) lost.push(link)
      else if (anchor && !anchorsOf(await file.text()).includes(anchor)) lost.push(link)
    }
    expect(lost).toEqual([])
  })

  test('from deployment reach every example', async () => {
    const linked = await Promise.all(
      PAGES.map(async (page) => linksOf(await read(page)).map((link) => basename(link))),
    )
    expect(
      EXAMPLES.map((path) => basename(path)).filter((name) => !linked.flat().includes(name)),
    ).toEqual([])
  })
})

describe('settings', () => {
  const labels = new Set(leaves.map(({ label }) => label))
  const variables = new Set(leaves.flatMap(({ variable }) => [variable, `${variable}_FILE`]))
  const ofTheBuild = ['GATEHOUSE_COMMIT']

  test.each(ALL)('that %s names are settings', async (path) => {
    const named = [...(await read(path)).matchAll(/`(\[[a-z.]+\] [a-z_]+)`/g)].map(
      ([, label]) => label,
    )
    expect(named.filter((label) => !labels.has(label as string))).toEqual([])
  })

  test.each(ALL)('that %s has in the environment are read from there', async (path) => {
    const named = [...(await read(path)).matchAll(/GATEHOUSE_[A-Z_]+/g)].map(([name]) => name)
    const unknown = named.filter((name) => !variables.has(name) && name !== FILE_VARIABLE)
    expect(unknown.filter((name) => !ofTheBuild.includes(name))).toEqual([])
  })

  test.each(PAGES)('in the files that %s shows are taken as they stand', async (path) => {
    for (const { text } of blocksOf(await read(path)).filter(
      ({ language }) => language === 'toml',
    )) {
      const loaded = loadConfig({
        flags: { config: '/gatehouse.toml' },
        env: {},
        cwd: '/',
        readFile: () => text,
      })
      expect(loaded.ok ? [] : loaded.errors).toEqual([])
    }
  })

  test('of the compose files are taken as they stand', async () => {
    for (const path of COMPOSE) {
      const { services } = parsedYaml(await read(path)) as Compose
      const env = services.gatehouse?.environment ?? {}
      const loaded = loadConfig({ flags: {}, env, cwd: '/nowhere', readFile: missing })
      expect(loaded.ok ? [] : loaded.errors).toEqual([])
      expect(loaded.warnings).toEqual([])
    }
  })
})

describe('commands', () => {
  /** Asks for help with the words of a command, which has verb and options looked at. */
  async function objection(words: string[]): Promise<string> {
    const { code, err } = await cli('/nowhere')(...words, '--help')
    return code === EXIT.ok ? '' : err
  }

  /** What stands before a command and is none: a prompt, another account, a container, a loop. */
  const BEFORE =
    /^(\s|\$ |sudo (-u \w+ )?|until |do |docker compose exec gatehouse (?=gatehouse))*(\S*\/)?/

  const commandsIn = (page: string): string[] =>
    [
      ...blocksOf(page)
        .filter(({ language }) => language === 'sh' || language === 'console')
        .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split(/\n|&&|[|;]/)),
      ...[...page.matchAll(/`(gatehouse [a-z][^`]*)`/g)].map(([, command = '']) => command),
    ]
      .map((line) => /^gatehouse(?:-new)? (\w.*)$/.exec(line.replace(BEFORE, '').trim())?.[1])
      .filter((command) => command !== undefined)

  test.each(PAGES)('that %s shows exist, with the options they are given', async (path) => {
    const refused: string[] = []
    for (const command of commandsIn(await read(path))) {
      const said = await objection(command.split(/\s+/))
      if (said) refused.push(`${command}: ${said}`)
    }
    expect(refused).toEqual([])
  })

  test('are found in what a shell is told', () => {
    const page =
      '```sh\ncd / && sudo -u gatehouse gatehouse tenant list\n./gatehouse-new version\n```\n'
    expect(commandsIn(`${page}as \`gatehouse doctor\` says`)).toEqual([
      'tenant list',
      'version',
      'doctor',
    ])
  })

  test('that no version has are noticed', async () => {
    expect(await objection(['tenant', 'paint'])).toContain('tenant')
    expect(await objection(['serve', '--colour', 'red'])).toContain('--colour')
  })
})

interface Compose {
  services: Record<
    string,
    {
      user?: string
      stop_grace_period?: string
      environment?: Record<string, string>
      volumes?: string[]
    }
  >
}

const parsedYaml = (text: string): unknown => Bun.YAML.parse(text)

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}

/** `35s` as 35. */
const seconds = (text = ''): number => Number(/^(\d+)s$/.exec(text)?.[1])

/** What is under way at a stop has 25 seconds, and three more to end after it was cut short. */
const MAX_STOP_SECONDS = 28
/** After so long Gatehouse closes a connection that nobody uses. */
const IDLE_SECONDS = 30
const MAX_WAIT_SECONDS = 25

describe('the unit of systemd', async () => {
  const unit = await read(UNIT)
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

  test('starts the server with the configuration that commands find, too', () => {
    expect(value('ExecStart')).toBe(
      '/usr/local/bin/gatehouse serve --config /etc/gatehouse/gatehouse.toml',
    )
  })

  test('waits for work under way, and starts again but for a mistake in the configuration', () => {
    expect(Number(value('TimeoutStopSec'))).toBeGreaterThan(MAX_STOP_SECONDS)
    expect(value('KillSignal')).toBe('SIGTERM')
    expect(value('Restart')).toBe('on-failure')
    expect(value('RestartPreventExitStatus')).toBe(`${EXIT.config}`)
  })

  test('leaves the engine the right to compile', () => {
    expect(value('MemoryDenyWriteExecute')).toBeUndefined()
    expect(value('LimitAS')).toBeUndefined()
  })

  test('keeps data where the page says, for its own account alone', async () => {
    expect(value('StateDirectory')).toBe('gatehouse')
    expect(value('StateDirectoryMode')).toBe('0700')
    expect(value('UMask')).toBe('0077')
    expect(await read('docs/deploy.md')).toContain('data_dir = "/var/lib/gatehouse"')
  })

  test('turns into one for two processes by the line of the page', async () => {
    const script = /sed '([^']+)'/.exec(await read('docs/deploy.md'))?.[1] ?? ''
    const { stdout } = Bun.spawnSync(['sed', script, join(ROOT, UNIT)])
    expect(`${stdout}`).toContain(
      'ExecStart=/usr/local/bin/gatehouse serve --server-port %i --server-drain 6s --config /etc',
    )
    expect(`${stdout}`).toContain('TimeoutStopSec=45')
  })
})

describe('the files for compose', () => {
  test('begin with one that is short', async () => {
    const [first = ''] = COMPOSE
    expect((await read(first)).trimEnd().split('\n').length).toBeLessThanOrEqual(20)
  })

  test('run the image as its own user and give it time to stop', async () => {
    const dockerfile = await read('Dockerfile')
    const user = /^USER (\d+)/m.exec(dockerfile)?.[1]
    for (const path of COMPOSE) {
      const { services } = parsedYaml(await read(path)) as Compose
      expect(services.gatehouse?.user).toBe(`${user}:${user}`)
      expect(seconds(services.gatehouse?.stop_grace_period)).toBeGreaterThan(MAX_STOP_SECONDS)
      expect(services.gatehouse?.volumes?.[0]).toBe('./data:/data')
    }
    expect(dockerfile).toContain('GATEHOUSE_DATA_DIR=/data')
  })
})

describe('the files for proxies', async () => {
  const proxies = await Promise.all(
    ['Caddyfile', 'Caddyfile.two', 'nginx.conf', 'traefik-dynamic.yaml'].map(
      async (name) => [name, await read(`docs/examples/${name}`)] as const,
    ),
  )

  test.each(proxies)('%s goes to the port that Gatehouse has by default', (_name, text) => {
    const { port } = testConfig().server
    const ports = [...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, found]) => Number(found))
    expect(ports[0]).toBe(port)
    expect(ports.filter((found) => found !== port && found !== port + 1)).toEqual([])
  })

  test.each(proxies)('%s lets go of a connection before Gatehouse does', (_name, text) => {
    const kept = /(?:keepalive|keepalive_timeout|idleConnTimeout:) (\d+s)\b/.exec(text)?.[1]
    expect(seconds(kept)).toBeLessThan(IDLE_SECONDS)
  })

  const METRICS = ['/metrics', '/metrics/']

  test.each(['docs/examples/nginx.conf', 'docs/metrics.md'])(
    'keep metrics inside: %s, also where a backslash leads there',
    async (path) => {
      const rule = new RegExp(
        /location ~ (\S+) \{\s*return 404;/.exec(await read(path))?.[1] ?? '^$',
      )
      for (const kept of [...METRICS, '/x\\..\\metrics']) expect(kept).toMatch(rule)
      for (const open of ['/', '/v1/metrics', '/metrics-of-mine']) expect(open).not.toMatch(rule)
    },
  )

  test.each(['docs/examples/Caddyfile', 'docs/examples/Caddyfile.two', 'docs/metrics.md'])(
    'keep metrics inside: %s, with a slash behind, too',
    async (path) => {
      const [, name, paths = ''] = /(@\w+) path (.+)/.exec(await read(path)) ?? []
      expect(paths.split(' ')).toEqual(METRICS)
      expect(await read(path)).toContain(`respond ${name} 404`)
    },
  )

  test.each(['docs/examples/traefik-dynamic.yaml', 'docs/proxies.md'])(
    'keep metrics inside: %s, with a slash behind, too',
    async (path) => {
      const rule = METRICS.map((kept) => `!Path(\`${kept}\`)`).join(' && ')
      expect(await read(path)).toContain(`Host(\`gatehouse.example.org\`) && ${rule}\n`)
    },
  )

  test('ask for a route that tells whether Gatehouse is ready', async () => {
    await using app = await bootTestApp()
    const { status } = await app.app.handle(new Request('http://localhost/readyz'))
    expect(status).not.toBe(404)
    for (const name of ['Caddyfile.two', 'traefik-dynamic.yaml'])
      expect(new Map(proxies).get(name)).toContain('/readyz')
  })

  test('let nginx pass on what Gatehouse itself refuses, and wait as long as it may', () => {
    const nginx = new Map(proxies).get('nginx.conf') ?? ''
    const megabytes = Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1])
    expect(megabytes * 1024 * 1024).toBeGreaterThan(testConfig().server.maxBodyBytes)
    expect(seconds(/proxy_read_timeout (\d+s);/.exec(nginx)?.[1])).toBeGreaterThan(MAX_WAIT_SECONDS)
  })

  test('that are YAML can be read', async () => {
    for (const path of EXAMPLES.filter((name) => /\.ya?ml$/.test(name)))
      expect(parsedYaml(await read(path))).toBeObject()
    for (const page of PAGES)
      for (const { text } of blocksOf(await read(page)).filter((one) => one.language === 'yaml'))
        expect(parsedYaml(text)).toBeObject()
  })
})

test('going back keeps the log beside the database that it belongs to', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  const kept = ['gatehouse.db', 'gatehouse.db-shm', 'gatehouse.db-wal']
  for (const name of [...kept, 'master.key']) await Bun.write(join(data, name), name)
  const page = (await read('docs/upgrade.md')).split('## Go back')[1] ?? ''
  const lines = (blocksOf(page)[0]?.text ?? '').split('\n')
  // The rest is for an account, a service and a copy that are not here.
  const moving = lines.filter((line) => /\b(mv|rm|install -d)\b/.test(line)).join('\n')
  const script = moving
    .replaceAll('sudo ', '')
    .replaceAll('/var/lib/gatehouse', data)
    .replaceAll('/root', folder.path)
  const { exitCode } = Bun.spawnSync(['sh', '-e', '-c', script])
  expect(exitCode).toBe(0)
  expect(readdirSync(data)).toEqual(['master.key'])
  expect(readdirSync(join(folder.path, 'after-upgrade')).toSorted()).toEqual(kept)
})

test('a database is opened by hand as the account of the server', async () => {
  const names = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  for (const name of names) {
    const shells = blocksOf(await read(`docs/${name}`)).filter(({ language }) => language === 'sh')
    const lines = shells.flatMap(({ text }) => text.split('\n'))
    const opening = lines.filter((line) => /\bsqlite3 .*\/var\/lib\/gatehouse/.test(line))
    for (const line of opening)
      expect([name, line]).toEqual([name, expect.stringMatching(/sudo -u gatehouse sqlite3/)])
  }
})

test('the messages that docs/upgrade.md explains are those of the program', async () => {
  const sources = await Promise.all(
    ['src/db/migrate.ts', 'src/db/errors.ts', 'src/cli/open.ts'].map(read),
  )
  const source = sources
    .join('\n')
    .replaceAll(/\$\{[^}]+\}/g, '…')
    .replaceAll(/\\?`/g, '')
  const page = (await read('docs/upgrade.md')).split('## When it fails')[1] ?? ''
  const quoted = [...page.matchAll(/^\| `([^`]+)`/gm), ...page.matchAll(/refuse: `([^`]+)`/g)]
  expect(quoted.length).toBe(5)
  for (const [, message] of quoted) expect(source).toContain(message as string)
})
