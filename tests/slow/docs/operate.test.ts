import { expect, test } from 'bun:test'
import { cpSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { leaves } from '../../../src/config/catalogue.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage, plain } from '../../support/page.ts'

/** What the pages for operators show is typed as it stands there. */

const DATA_DIR = '/var/lib/gatehouse'
const CONFIG = '/etc/gatehouse/gatehouse.toml'

type Home = { cwd: string; env: Record<string, string> }

const homeOf = (app: TestApp): Home => {
  const cwd = dirname(app.db.file)
  return { cwd, env: { GATEHOUSE_DATA_DIR: cwd } }
}

/** Both outputs of a command. */
async function printed(args: string[], { cwd, env }: Home) {
  const { out, err } = await cli(cwd, { env })(...args)
  return err + out
}

/** The commands of a block after `$ gatehouse`, with their output, without filters and comments. */
const shownIn = (block = '') =>
  block
    .split(/^\$ /m)
    .map((entry) => entry.replace(/^sudo /, ''))
    .filter((entry) => entry.startsWith('gatehouse '))
    .map((entry) => {
      const [line = '', ...output] = entry.split('\n')
      const [command = ''] = line.split(/ \| | +#/)
      return { args: command.split(' ').slice(1), output: output.join('\n').trimEnd() }
    })

/** Without what differs in each run: times but for the first of a month, ids, sizes, the account. */
const shapeOf = (text: string) =>
  text
    .trimEnd()
    .replaceAll(/\d{4}-\d\d-\d\dT(?!00:00:00)[\d:.-]+Z/g, '<time>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/(?<=master key +)[0-9a-f]{12}/g, '<key>')
    .replaceAll(/\b[\d,]+(?= (bytes|clockwork|deliveries|mails))/g, '<n>')
    .replaceAll(/(cli )?(uid \d+@|(?<=cli ))\S+/g, '<account>')
    .replaceAll(/ {2,}/g, '  ')

/** Runs what a block shows, with `translate` for names that differ here. */
async function expectAsShown(block = '', home: Home, translate = (text: string) => text) {
  const all = shownIn(block)
  expect(all.length).toBeGreaterThan(0)
  for (const { args, output } of all)
    expect(shapeOf(await printed(args.map(translate), home))).toBe(shapeOf(translate(output)))
}

test('docs/backup.md makes, checks and restores a backup', async () => {
  const [make, check, restore] = (await openPage('backup.md')).blocks('console')
  await using app = await bootTestApp({ start: '2026-01-01T00:00:00.000Z' })
  const { api } = await app.tenant()
  const url = 'https://example.com/'
  await api.post('/v1/clockwork/jobs', { name: 'overdue', schedule: '* * * * *', url })
  const home = homeOf(app)
  await expectAsShown(make, home, (text) => text.replaceAll(DATA_DIR, home.cwd))

  // This process has the database open, and restore refuses that.
  using copy = temporaryFolder()
  cpSync(home.cwd, copy.path, { recursive: true })
  const cwd = join(copy.path, 'backups')
  const [file = ''] = readdirSync(cwd)
  await Bun.write(join(cwd, 'gatehouse.toml'), '')
  const translate = (text: string) =>
    text
      .replaceAll(DATA_DIR, copy.path)
      .replaceAll(/gatehouse-[\dTZ-]+\.tar\.gz/g, file)
      .replaceAll(CONFIG, 'gatehouse.toml')
  const there = { cwd, env: { GATEHOUSE_DATA_DIR: copy.path } }
  for (const block of [check, restore]) await expectAsShown(block, there, translate)
})

test('docs/metering.md shows a plan, a month, the headers, the event at 80 % and the limits as they are', async () => {
  const { text, blocks } = await openPage('metering.md')
  await using app = await bootTestApp({ start: '2026-11-20T23:59:00.000Z' })
  const { id, key } = await app.tenant('Acme', 'free')
  const other = await app.tenant('Acme', 'free')
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
  const { freeRequests } = testConfig().metering
  expect(text).toContain(
    `\`[metering] free_requests\` (default ${freeRequests.toLocaleString('en')})`,
  )

  const now = new Date()
  const month = (ahead: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)).toISOString().slice(0, 7)
  const columns = 'tenant_id, month, requests, billed, cost_cents, allowance_told, spend_cap_told'
  const row = app.db.client.query(
    `INSERT INTO usage_months (${columns}) VALUES (?, ?, ?, ?, ?, 0, 0)`,
  )
  row.run(other.id, month(-1), 2900, 0, 0)
  row.run(other.id, month(0), 13_500, 10_500, 315)
  const day = app.db.client.query('INSERT INTO usage_days VALUES (?, ?, ?, ?, ?)')
  day.run(other.id, `${month(0)}-03`, 'gate', 'live', 1500)
  day.run(other.id, `${month(0)}-04`, 'relay', 'live', 12_000)
  const [block = ''] = blocks('console')
  const [, tenant = ''] = /tenant set (\S+)/.exec(block) ?? []
  await expectAsShown(block, homeOf(app), (shown) =>
    shown
      .replaceAll(tenant, other.id)
      .replaceAll(/2026-1([012])(?!\S*T(?!00:00:00))/g, (_, digit) => month(Number(digit) - 1)),
  )
})

test('docs/audit.md shows the log as it is printed, and docs/operate.md each check of the doctor and each migration', async () => {
  await using app = await bootTestApp({ start: new Date().toISOString() })
  const home = homeOf(app)
  const { id, key } = await app.tenant()
  const api = app.client((await key('relay', undefined, ['relay:endpoints'])).key)
  await api.post('/v1/relay/endpoints', { url: 'https://example.com/hook' })
  await printed(['tenant', 'suspend', id, '--reason', 'billing'], home)
  const [log] = shownIn((await openPage('audit.md')).blocks('console')[0])
  expect(shapeOf(await printed(log?.args ?? [], home))).toBe(shapeOf(log?.output ?? ''))

  const shown = shownIn((await openPage('operate.md')).block('console', 'gatehouse doctor'))
  const outputOf = (words: string) =>
    shown.find(({ args }) => args.join(' ') === words)?.output ?? ''
  const checks = (text: string) => {
    const lines = text.matchAll(/^(?:([A-Z]\w+)| {2}\w+ {2,}(\S+(?: \S+)*) {2,}.*)$/gm)
    return [...new Set(Array.from(lines, ([, heading, check]) => heading ?? check))]
  }
  expect(checks(await printed(['doctor'], home))).toEqual(checks(outputOf('doctor')))
  const steps = (text: string) => text.match(/^\d{4}_\w+ +applied/gm)
  const applied = await printed(['migrate', 'status'], home)
  expect(steps(applied)).toEqual(steps(outputOf('migrate status')))
})

test('docs/configure.md has every section, what can be retained, and shows what its commands print', async () => {
  const page = await openPage('configure.md')
  const rows = page.table('Section', 'About')
  const labels = leaves.map(({ label }) => label)
  const bare = (label: string) => label.replaceAll(/[[\]]/g, '')
  const sections = labels.map((label) => bare(/^\[[a-z0-9]+/.exec(label)?.[0] ?? label))
  const shown = rows.map(([section]) => bare(plain(section)))
  expect(shown.toSorted()).toEqual([...new Set(sections)].toSorted())
  const [, about = ''] = rows.find(([section]) => section === '`[retention]`') ?? []
  const named = [...about.matchAll(/`(\w+)`/g)].map(([, name]) => `[retention] ${name}`)
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((label) => !labels.includes(label))).toEqual([])

  using folder = temporaryFolder()
  const cwd = folder.path
  const [init, check, show] = shownIn(page.block('console', 'config init'))
  const write = (name: string, text: string) => Bun.write(join(cwd, name), text)
  const type = async (shown = { args: [''], output: '' }, env = {}) =>
    (await printed(shown.args, { cwd, env })).trimEnd()
  expect(await type(init)).toBe((init?.output ?? '').replace(dirname(CONFIG), cwd))
  const mistakes = 'data_dri = "x"\n[server]\nprot = 9000\n\n[log]\n\nlevel = "loud"\n'
  await write('gatehouse.toml', mistakes)
  expect(await type(check)).toBe(check?.output ?? '')
  await write('gatehouse.toml', 'mail.from = "a@example.org"\n')
  await write('smtp', 'smtp://user:password@mail.example.org')
  const env = { GATEHOUSE_SERVER_PORT: '9000', GATEHOUSE_MAIL_SMTP_URL_FILE: join(cwd, 'smtp') }
  const [, words = ''] = /grep -E '(.+)'/.exec(page.text) ?? []
  const lines = (await type(show, env)).split('\n').filter((line) => line.match(words))
  expect(lines.join('\n')).toBe(show?.output ?? '')
})
