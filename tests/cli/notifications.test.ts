import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import { createAlerts, type NewAlert } from '../../src/platform/alerts/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { startBotApi } from '../support/bot-api/index.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startTarget } from '../support/target.ts'

const { path: folder, [Symbol.dispose]: remove } = temporaryFolder()
const botApi = startBotApi()
const target = startTarget()

afterAll(async () => {
  await Promise.all([botApi[Symbol.asyncDispose](), target.stop()])
  remove()
})

const { host } = new URL(target.url)
const env = { GATEHOUSE_OUTBOUND_ALLOW: host, GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: botApi.url }

/** A command with what is typed into it. */
const typed = (input: string, ...argv: string[]) => cli(folder, { env, input })(...argv)
const gatehouse = (...argv: string[]) => typed('', ...argv)
const INSTALLATION = ['--installation']

async function newTenant() {
  const { id } = (await gatehouse('tenant', 'create', '--name', 'Acme', '--json')).json()
  return ['--tenant', id as string]
}

const add = async (owner: string[], type: string, settings: object, ...more: string[]) => {
  const given = [...owner, '--type', type, '--settings-stdin', ...more]
  return await typed(JSON.stringify(settings), 'channel', 'add', ...given)
}

const channelsOf = async (owner: string[]) =>
  (await gatehouse('channel', 'list', ...owner, '--json')).json().channels

test.each(['a tenant', 'the installation'])(
  'A channel of %s is added, listed, tested and removed, with its secrets hidden',
  async (whose) => {
    const owner = whose === 'a tenant' ? await newTenant() : INSTALLATION
    expect((await gatehouse('channel', 'list', ...owner)).out).toBe('No channels yet.\n')
    const url = `${target.url}/s3cret`
    const slack = await add(owner, 'slack', { url }, '--min-severity', 'critical', '--json')
    const { id } = slack.json()
    expect(slack.json()).toMatchObject({ type: 'slack', min_severity: 'critical', secret: null })
    const given = ['--setting', `server=${target.url}`, '--setting', 'topic=acme']
    const kinds = ['--kind', 'job.failed', '--kind', 'disk.low', '--name', 'Phone']
    const ntfy = await gatehouse('channel', 'add', ...owner, '--type', 'ntfy', ...given, ...kinds)
    expect(ntfy.out).toContain(`Added channel Phone (${host}/acme).`)
    expect(await channelsOf(owner)).toMatchObject([
      { id, settings: { url: '********' }, kinds: null },
      { name: 'Phone', settings: { topic: 'acme' }, kinds: ['job.failed', 'disk.low'] },
    ])
    const { out } = await gatehouse('channel', 'list', ...owner)
    expect(out).toMatch(/^ID +TYPE +NAME +TARGET +STATE +LAST ERROR\n.+ slack /)
    expect(out + slack.out).not.toContain('s3cret')
    target.requests.length = 0
    expect((await gatehouse('channel', 'test', id, ...owner)).out).toBe('Sent.\n')
    expect(target.requests[0]).toMatchObject({ path: '/hook/s3cret' })
    target.answers(500)
    const failed = await gatehouse('channel', 'test', id, ...owner, '--json')
    target.answers(200)
    expect([failed.code, failed.json()]).toEqual([1, { result: 'failed', error: 'status 500' }])
    expect(await channelsOf(owner)).toMatchObject([{ last_error: 'status 500' }, {}])
    const removed = await gatehouse('channel', 'remove', id, ...owner)
    expect(removed.out).toBe(`Deleted channel ${id}.\n`)
    expect(await channelsOf(owner)).toHaveLength(1)
    const again = await gatehouse('channel', 'remove', id, ...owner)
    expect([again.code, again.err]).toEqual([1, 'channel not found\n'])
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile())
    for (const file of files) expect(readFileSync(file, 'latin1')).not.toContain('s3cret')
  },
  20_000,
)

test('The secret of a webhook is printed once', async () => {
  const owner = await newTenant()
  const { out } = await add(owner, 'webhook', { url: target.url })
  const [, secret = ''] = /only now: (whsec_\S+)/.exec(out) ?? []
  expect(secret).toStartWith('whsec_')
  expect(JSON.stringify(await channelsOf(owner))).not.toContain(secret)
})

test('A test reaches a chat by the live bot of the tenant', async () => {
  const owner = await newTenant()
  const [bot, ada] = [botApi.bot(), botApi.person()]
  const { id } = (await add(owner, 'telegram', { chat_id: `${ada.id}` }, '--json')).json()
  const without = await gatehouse('channel', 'test', id, ...owner)
  expect([without.code, without.out]).toEqual([1, 'Failed: no Telegram bot is set up.\n'])
  await typed(bot.token, 'bot', 'set', ...owner, '--env', 'live', '--token-stdin')
  const unknown = await gatehouse('channel', 'test', id, ...owner)
  expect(unknown.out).toContain("bot can't initiate conversation with a user")
  ada.start(bot, '')
  expect((await gatehouse('channel', 'test', id, ...owner)).out).toBe('Sent.\n')
  expect(ada.lastMessage(bot)?.text).toMatch(/^🟠 Test notification\n.+\nAcme · http/)
})

test('A wrong command is refused', async () => {
  const owner = await newTenant()
  const slack = ['channel', 'add', ...owner, '--type', 'slack']
  const ntfy = ['channel', 'add', ...owner, '--type', 'ntfy']
  const refused: [string[], 1 | 2, string, string?][] = [
    [['channel', 'list'], 2, 'use either --tenant ID or --installation'],
    [['alert', 'list', ...owner, ...INSTALLATION], 2, 'use either'],
    [['channel', 'list', '--tenant', 'x'], 1, 'tenant not found'],
    [['channel', 'add', ...owner, '--type', 'fax'], 2, '--type: must be one of owners, email'],
    [[...slack, '--setting', 'url=https://x.example'], 2, 'url is a secret. Use --settings-stdin'],
    [[...ntfy, '--setting', 'tokn=x'], 2, '--setting: ntfy has server, topic, token'],
    [[...ntfy, '--setting', 'topic'], 2, '--setting: must be NAME=VALUE'],
    [[...slack, '--kind', 'job'], 2, '--kind: must be one of job.failed'],
    [[...slack, '--settings-stdin'], 1, 'settings.url: ', '{}'],
    [
      [...slack, '--settings-stdin'],
      1,
      '--settings-stdin: must be a JSON object',
      '{"url": s3cret',
    ],
    [[...slack, '--settings-stdin'], 1, 'settings.url: ', '{"url": "http://127.0.0.1:1/s3cret"}'],
    [['channel', 'test', 'x', ...owner], 1, 'channel not found'],
    [['alert', 'mute', 'x', ...owner], 1, 'alert not found'],
    [['alert', 'mute', 'x', ...owner, '--for', '2h'], 2, '--for: must be one of 1h, 1d, 1w'],
  ]
  for (const [argv, code, message, input = ''] of refused) {
    const answer = await typed(input, ...argv)
    expect([argv, answer.code, answer.out]).toEqual([argv, code, ''])
    expect(answer.err).toContain(message)
    expect(answer.err).not.toContain('s3cret')
  }
})

test.each(['a tenant', 'the installation'])(
  'Alerts of %s are listed, muted and unmuted',
  async (whose) => {
    const owner = whose === 'a tenant' ? await newTenant() : INSTALLATION
    const list = async (...more: string[]) =>
      (await gatehouse('alert', 'list', ...owner, '--json', ...more)).json().alerts
    expect((await gatehouse('alert', 'list', ...owner)).out).toBe('No open alerts.\n')
    await change(owner, (alerts, alert) => alerts.open(alert))
    const [{ id }] = await list()
    const muted = await gatehouse('alert', 'mute', id, ...owner, '--for', '1d', '--json')
    const inADay = new Date(systemClock.now() + 86_400_000).toISOString().slice(0, 11)
    expect(muted.json()).toMatchObject({ id, muted: true, muted_until: expect.any(String) })
    expect(muted.json().muted_until).toStartWith(inADay)
    expect((await gatehouse('alert', 'mute', id, ...owner)).out).toBe(
      'Muted until you unmute it: Job Nightly is failing.\n',
    )
    const { out } = await gatehouse('alert', 'list', ...owner)
    expect(out).toMatch(/ critical .+ 1 +yes +Job Nightly is failing +Status 500\.\n$/)
    expect((await gatehouse('alert', 'unmute', id, ...owner)).out).toBe(
      'Unmuted: Job Nightly is failing.\n',
    )
    await change(owner, (alerts, alert) => alerts.resolve(alert))
    expect([await list(), await list('--state', 'resolved')]).toMatchObject([[], [{ id }]])
  },
)

/** A server beside the command changes an alert. */
async function change(
  [, tenantId]: string[],
  does: (alerts: ReturnType<typeof createAlerts>, alert: NewAlert) => void,
) {
  const db = openDatabase({ dataDir: join(folder, 'data'), synchronous: 'normal' })
  const alerts = createAlerts({ db, clock: systemClock })
  await db.commit(() => does(alerts, { ...ALERT, tenantId: tenantId ?? null }))
  db.close()
}

const ALERT = {
  kind: 'job.failed' as const,
  subject: 'job:1',
  name: 'Nightly',
  text: 'Status 500.',
  path: '/jobs/1',
}
