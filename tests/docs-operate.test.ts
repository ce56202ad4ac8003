import { describe, expect, test } from 'bun:test'
import { cpSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT } from '../src/cli/command.ts'
import { leaves } from '../src/config/catalogue.ts'
import { loadConfig } from '../src/config/index.ts'
import { bootTestApp, type TestApp } from './support/app.ts'
import { cli } from './support/cli.ts'
import { testConfig } from './support/config.ts'
import { temporaryFolder } from './support/folder.ts'
import { openPage, type Page, plain } from './support/page.ts'

/** What the pages for operators show is typed as it stands there; what they name has to exist. */

const names = ['audit', 'backup', 'configure', 'keys', 'metering', 'metrics', 'operate'] as const
type Name = (typeof names)[number]
const opened = await Promise.all(
  names.map(async (name) => [name, await openPage(`${name}.md`)] as const),
)
const page = (name: Name) => new Map<Name, Page>(opened).get(name) as Page

/** Where all pages have the data, and the configuration. */
const DATA_DIR = '/var/lib/gatehouse'
const CONFIG = '/etc/gatehouse/gatehouse.toml'

interface Home {
  cwd: string
  env: Record<string, string>
}

/** Both outputs of a command, and how it ended. */
async function gatehouse(args: string[], { cwd, env }: Home) {
  const { code, out, err } = await cli(cwd, { env })(...args)
  return { code, printed: err + out }
}

interface Shown {
  args: string[]
  output: string
}

/** What a block has after `$ gatehouse`, with what it prints; services and filters are others'. */
function shownIn(block: string): Shown[] {
  return block
    .split(/^\$ /m)
    .map((entry) => entry.replace(/^sudo /, ''))
    .filter((entry) => entry.startsWith('gatehouse '))
    .map((entry) => {
      const [line = '', ...output] = entry.split('\n')
      const [command = ''] = line.split(/ \| | +#/)
      return { args: command.split(' ').slice(1), output: output.join('\n').trimEnd() }
    })
}

/** What differs from run to run: times but for the first of a month, ids, sizes, who types. */
const shapeOf = (text: string) =>
  text
    .trimEnd()
    .replaceAll(/\d{4}-\d\d-\d\dT(?!00:00:00)[\d:.-]+Z/g, '<time>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/(?<=master key +)[0-9a-f]{12}/g, '<key>')
    .replaceAll(/\b[\d,]+(?= (bytes|clockwork|deliveries|mails))/g, '<n>')
    .replaceAll(/uid \d+@\S+/g, '<account>')
    .replaceAll(/ {2,}/g, '  ')

/** Runs what a block shows, with `translate` for names that are others here. */
async function expectAsShown(block: string, home: Home, translate = (text: string) => text) {
  const all = shownIn(block)
  expect(all.length).toBeGreaterThan(0)
  for (const { args, output } of all) {
    const { printed } = await gatehouse(args.map(translate), home)
    expect(shapeOf(printed)).toBe(shapeOf(translate(output)))
  }
}

const homeOf = (app: TestApp): Home => {
  const cwd = dirname(app.db.file)
  return { cwd, env: { GATEHOUSE_DATA_DIR: cwd } }
}

describe('docs/backup.md', () => {
  const [make = '', check = '', restore = ''] = page('backup').blocks('console')

  test('makes, checks and restores a backup as it shows', async () => {
    await using app = await bootTestApp({ start: '2026-01-01T00:00:00.000Z' })
    const { api } = await app.tenant()
    const url = 'https://example.com/'
    await api.post('/v1/clockwork/jobs', { name: 'overdue', schedule: '* * * * *', url })
    const home = homeOf(app)
    await expectAsShown(make, home, (text) => text.replaceAll(DATA_DIR, home.cwd))

    // Nothing is restored under a program that has the database open, as this one has.
    using copy = temporaryFolder()
    cpSync(home.cwd, copy.path, { recursive: true })
    const toHere = (text: string) => text.replaceAll(DATA_DIR, copy.path)
    const cwd = join(copy.path, 'backups')
    const [file = ''] = readdirSync(cwd)
    await Bun.write(join(cwd, 'gatehouse.toml'), '')
    const translate = (text: string) =>
      toHere(text)
        .replaceAll(/gatehouse-[\dTZ-]+\.tar\.gz/g, file)
        .replaceAll(CONFIG, 'gatehouse.toml')
    const there = { cwd, env: { ...home.env, GATEHOUSE_DATA_DIR: copy.path } }
    await expectAsShown(check, there, translate)
    await expectAsShown(restore, there, translate)
  })
})

describe('docs/metering.md', () => {
  const text = page('metering').text
  const [block = ''] = page('metering').blocks('console')

  test('shows a plan and a month as they are printed, with sums that are right', async () => {
    await using app = await bootTestApp()
    const { id } = await app.tenant('Acme', 'free')
    const now = new Date()
    const month = (ahead: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)).toISOString().slice(0, 7)
    const row = app.db.client.query(
      `INSERT INTO usage_months
         (tenant_id, month, requests, billed, cost_cents, allowance_told, spend_cap_told)
       VALUES (?, ?, ?, ?, ?, 0, 0)`,
    )
    row.run(id, month(-1), 2900, 0, 0)
    row.run(id, month(0), 13_500, 10_500, 315)
    const day = app.db.client.query('INSERT INTO usage_days VALUES (?, ?, ?, ?, ?)')
    day.run(id, `${month(0)}-03`, 'gate', 'live', 1500)
    day.run(id, `${month(0)}-04`, 'relay', 'live', 12_000)
    const [, tenant = ''] = /tenant set (\S+)/.exec(block) ?? []

    const home = homeOf(app)
    await expectAsShown(block, home, (shown) =>
      shown
        .replaceAll(tenant, id)
        .replaceAll(/2026-1([012])(?!\S*T(?!00:00:00))/g, (_, digit) => month(Number(digit) - 1)),
    )
  })

  test('shows what an answer says is left, and what is told at 80 %', async () => {
    await using app = await bootTestApp({ start: '2026-11-20T23:59:00.000Z' })
    const { id, key } = await app.tenant('Acme', 'free')
    const api = app.client((await key('relay', 'live')).key)
    const ask = async (times: number) => {
      for (let n = 1; n < times; n++) await api.get('/v1/relay/messages')
      return await api.get('/v1/relay/messages')
    }

    await ask(587)
    await app.clock.advance(60_000)
    const { headers } = await ask(1)
    const shown = ['RateLimit-Policy', 'RateLimit'].map((name) => `${name}: ${headers.get(name)}`)
    expect(text).toContain(`\`\`\`\n${shown.join('\n')}\n\`\`\``)

    await ask(2400 - 588)
    await app.platform.metering.usageOf(id)
    const { body } = await api.get('/v1/relay/messages?event_type=usage.threshold')
    const { payload } = (await api.get(`/v1/relay/messages/${body.data[0].id}`)).body
    expect(text).toContain(`\`${JSON.stringify(payload)}\``)
  })

  test('has the allowance and the rate of a fresh installation', () => {
    const { metering, limits } = testConfig()
    expect(text).toContain(
      `\`[metering] free_requests\` (default ${metering.freeRequests.toLocaleString('en')})`,
    )
    expect(text).toContain(
      `\`[limits] requests_per_minute\` (default ${limits.requestsPerMinute.toLocaleString('en')})`,
    )
  })
})

test('docs/audit.md shows the log as it is printed', async () => {
  await using app = await bootTestApp({ start: new Date().toISOString() })
  const { id, key } = await app.tenant()
  const api = app.client((await key('relay', undefined, ['relay:endpoints'])).key)
  await api.post('/v1/relay/endpoints', { url: 'https://example.com/hook' })
  const home = homeOf(app)
  await gatehouse(['tenant', 'suspend', id, '--reason', 'billing'], home)
  const [block = ''] = page('audit').blocks('console')

  const { printed } = await gatehouse(shownIn(block)[0]?.args ?? [], home)

  const whoTyped = (text: string) => shapeOf(text).replaceAll(/cli \S+/g, 'cli')
  expect(whoTyped(printed)).toBe(whoTyped(shownIn(block)[0]?.output ?? ''))
})

test('docs/operate.md shows each check of the doctor and each step of the schema', async () => {
  await using app = await bootTestApp({ start: new Date().toISOString() })
  const shown = shownIn(page('operate').block('console', 'gatehouse doctor'))
  const outputOf = (words: string) =>
    shown.find(({ args }) => args.join(' ') === words)?.output ?? ''
  const typed = async (words: string) => (await gatehouse(words.split(' '), homeOf(app))).printed

  /** Headings, and what was checked below them: once, whatever there is to say of it. */
  const checked = (text: string) => {
    const lines = text.matchAll(/^(?:([A-Z]\w+)| {2}\w+ {2,}(\S+(?: \S+)*) {2,}.*)$/gm)
    return new Set(Array.from(lines, ([, heading, check]) => heading ?? check))
  }
  expect([...checked(await typed('doctor'))]).toEqual([...checked(outputOf('doctor'))])
  const steps = (text: string) => text.match(/^\d{4}_\w+ +applied/gm)
  expect(steps(await typed('migrate status'))).toEqual(steps(outputOf('migrate status')))
})

describe('docs/configure.md', () => {
  const configure = page('configure')

  test('has every section of the configuration and no other', () => {
    const sections = leaves.map(({ label }) => /^\[[a-z]+/.exec(label)?.[0] ?? label)
    const bare = (label: string) => label.replaceAll(/[[\]]/g, '')
    const shown = configure.table('Section', 'About').map(([section]) => bare(plain(section)))
    expect(shown.toSorted()).toEqual([...new Set(sections.map(bare))].toSorted())
  })

  test('names what is kept by the settings for it', () => {
    const rows = configure.table('Section', 'About')
    const [, about = ''] = rows.find(([section]) => section === '`[retention]`') ?? []
    const named = [...about.matchAll(/`(\w+)`/g)].map(([, name]) => `[retention] ${name}`)
    const labels = leaves.map(({ label }) => label)
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((label) => !labels.includes(label))).toEqual([])
  })

  test('shows what the commands for it print', async () => {
    using folder = temporaryFolder()
    const cwd = folder.path
    const [init, check, show] = shownIn(configure.block('console', 'config init'))
    const typed = async ({ args }: Shown = { args: [], output: '' }, env = {}) =>
      (await gatehouse(args, { cwd, env })).printed.trimEnd()

    expect(await typed(init)).toBe((init?.output ?? '').replace(dirname(CONFIG), cwd))
    const mistakes = 'data_dri = "x"\n[server]\nprot = 9000\n\n[log]\n\nlevel = "loud"\n'
    await Bun.write(join(cwd, 'gatehouse.toml'), mistakes)
    expect(await typed(check)).toBe(check?.output ?? '')
    await Bun.write(join(cwd, 'gatehouse.toml'), 'mail.from = "a@example.org"\n')
    await Bun.write(join(cwd, 'smtp'), 'smtp://user:password@mail.example.org')
    const env = { GATEHOUSE_SERVER_PORT: '9000', GATEHOUSE_MAIL_SMTP_URL_FILE: join(cwd, 'smtp') }
    const [, words = ''] = /grep -E '(.+)'/.exec(configure.text) ?? []
    const lines = (await typed(show, env)).split('\n').filter((line) => line.match(words))
    expect(lines.join('\n')).toBe(show?.output ?? '')
  })
})

describe('settings', () => {
  test.each(names)('that docs/%s.md names are there', (name) => {
    const labels = leaves.map(({ label }) => label)
    const named = [...page(name).text.matchAll(/`(\[[a-z.]+\] [a-z_]+)/g)].map(([, label]) => label)
    expect(named.filter((label) => !labels.includes(label as string))).toEqual([])
  })

  test.each(['backup', 'metrics'] as const)('that docs/%s.md shows are taken', (name) => {
    for (const block of page(name).blocks('toml')) {
      const flags = { config: '/gatehouse.toml' }
      const loaded = loadConfig({ flags, env: {}, cwd: '/', readFile: () => block })
      expect(loaded.ok ? loaded.warnings : loaded.errors).toEqual([])
    }
  })
})

describe('commands', () => {
  /** Of shells and of the text, with the options that they are given. */
  const commandsIn = ({ text, blocks }: Page): string[][] =>
    [
      ...blocks('sh').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')),
      ...blocks('console').flatMap((block) =>
        [...block.matchAll(/^\$ (?:sudo )?(.+)$/gm)].map(([, command = '']) => command),
      ),
      ...[...text.matchAll(/`(gatehouse [a-z][^`]*)`/g)].map(([, command = '']) => command),
    ]
      .filter((line) => line.startsWith('gatehouse '))
      .map((line) => (line.split(/ \\?\| | +#|\(/)[0] ?? '').trim().split(/\s+/).slice(1))

  test.each(names)('that docs/%s.md shows exist, with the options they are given', async (name) => {
    const refused: string[] = []
    for (const words of commandsIn(page(name))) {
      const { code, printed } = await gatehouse([...words, '--help'], { cwd: '/nowhere', env: {} })
      if (code !== EXIT.ok) refused.push(`${words.join(' ')}: ${printed}`)
    }
    expect(refused).toEqual([])
  })
})
