import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  COLLECT_MS,
  COOL_DOWN_MS,
  MAX_LABEL_LENGTH,
  MAX_PROMPTS,
  MAX_UNAPPROVED,
  MAX_USER_AGENT_LENGTH,
  MAX_WAIT_SECONDS,
  POLL_INTERVAL,
  REPLIES_PER_BOT,
  REPLIES_PER_CHAT,
  UNAPPROVED_WINDOW_MS,
  UPDATES_KEPT_MS,
} from '../src/engines/passepartout/limits.ts'
import { User } from '../src/engines/passepartout/model.ts'
import { SANDBOX_PEOPLE } from '../src/engines/passepartout/sandbox/people.ts'
import { passepartoutBots } from '../src/engines/passepartout/schema.ts'
import { createTexts } from '../src/engines/passepartout/texts/index.ts'
import { bootFixture } from './engines/passepartout/fixture.ts'
import { bootTestApp } from './support/app.ts'
import { until } from './support/binary.ts'
import { startBotApi } from './support/bot-api/index.ts'
import { testConfig } from './support/config.ts'
import { createNames, readConsole } from './support/console.ts'
import { temporaryFolder } from './support/folder.ts'
import { openPage, plain } from './support/page.ts'
import { freePort } from './support/port.ts'
import { openShell } from './support/shell.ts'
import { collect } from './support/shown.ts'

/** What docs/passepartout.md shows is run as it stands there; its app in tests/e2e. */

const page = await openPage('passepartout.md')

const ROOT = join(import.meta.dir, '..')
const CAN_TYPE = ['bash', 'curl', 'jq'].every((name) => Bun.which(name) !== null)
const START = '/v1/passepartout/login/start'
const STATUS = '/v1/passepartout/login/status'

/** A server as in the first terminal of the page, and Telegram on this machine. */
async function openShop() {
  await using ends = new AsyncDisposableStack()
  const telegram = ends.use(startBotApi())
  const folder = ends.use(temporaryFolder())
  const port = freePort()
  const env = {
    GATEHOUSE_DATA_DIR: join(folder.path, 'data'),
    GATEHOUSE_SERVER_PORT: `${port}`,
    GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: telegram.url,
  }
  const program = [process.execPath, 'src/main.ts']
  const [, ...typed] = page.block('sh', 'gatehouse serve').trim().split(' ')
  const child = Bun.spawn([...program, ...typed], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  ends.defer(async () => {
    child.kill()
    await child.exited
  })
  const url = `http://127.0.0.1:${port}`
  const variables = { API: `${url}/v1/passepartout`, JSON: 'Content-Type: application/json' }
  const shell = ends.use(openShell({ cwd: folder.path, env: { ...env, ...variables } }))
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  await until(
    () => out.text.includes('"message":"listening"') || child.exitCode !== null,
    () => out.text + err.text,
  )
  await shell.run(`gatehouse() { (cd ${ROOT} && exec ${program.join(' ')} "$@"); }`)
  const running = ends.move()
  return { url, telegram, shell, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

test.skipIf(!CAN_TYPE)(
  'the commands of docs/passepartout.md print what it says',
  async () => {
    await using shop = await openShop()
    const bot = shop.telegram.bot({ username: 'acme_signin_bot' })
    const names = createNames()
    const anyNumber = (text: string) => text.replace(/(?<="match_code":")\d\d/, '…')
    const hereAndNow = (text: string) =>
      anyNumber(text.replaceAll('http://127.0.0.1:8420', shop.url))

    let count = 0
    for (const { command, output } of page.blocks('console').flatMap(readConsole)) {
      // What is typed there without being shown; here it would be the next command.
      const typed = command.startsWith('read -rs TOKEN') ? `TOKEN=${bot.token}` : command
      const printed = (await shop.shell.run(names.translate(typed))).replaceAll('\n', '')
      if (!names.matches({ command, output: hereAndNow(output) }, printed))
        expect([command, printed]).toEqual([command, output])
      const key = /^svc_passepartout_test_sk_\w{43}/.exec(printed)?.[0]
      if (key) await shop.shell.run(`AUTH="Authorization: Bearer ${key}"`)
      count++
    }
    expect(count).toBe(17)
    await shop.telegram.waitForPoller(bot)

    const tenant = names.translate('01a20241-0c7e-7b1a-9d53-6a1f0e5b7c21')
    const byWebhook = page.block('sh', '--transport webhook').replaceAll('…', tenant)
    await shop.shell.run(byWebhook)
    await until(() => bot.webhook !== undefined)
    expect(bot.webhook?.url).toStartWith(`${shop.url}/v1/passepartout/telegram/`)
  },
  60_000,
)

/** What tables of one section say beside these words; they are the first cell of a row. */
function said(section: string, words: string): string {
  const [text = ''] = page.text.split(`\n## ${section}\n`)[1]?.split('\n## ') ?? []
  const rows = text.split('\n').filter((line) => line.startsWith(`| ${words}`))
  expect([words, rows]).toEqual([words, [expect.any(String)]])
  return rows[0]?.split('|')[2]?.trim() ?? ''
}

describe('the tables of docs/passepartout.md', () => {
  test('have every route of the engine and no other', async () => {
    await using app = await bootTestApp()
    const { paths } = (await app.raw('/openapi.json')).body
    const routes = Object.entries<object>(paths)
      .filter(([path]) => path.startsWith('/v1/passepartout/'))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map(
          (method) =>
            `${method.toUpperCase()} ${path.replace('/v1/passepartout', '').replace('{user_id}', '{id}')}`,
        ),
      )

    const shown = page.table('Route', 'Request').map(([route]) => plain(route))
    expect(shown.toSorted()).toEqual(routes.toSorted())
  })

  test('have every field of a user and no other', () => {
    const fields = page.table('Field', 'Type').map(([field]) => plain(field))
    expect(fields).toEqual(Object.keys(User.properties))
  })

  test('have every refusal and no other', async () => {
    await using fixture = await bootFixture({
      flags: {
        'limits-login-starts-per-minute': '1',
        'server-max-body': '1KB',
        'metering-free-requests': '0',
        'metering-default-spend-cap-cents': '0',
      },
    })
    const { app, botApi } = fixture
    const acme = await fixture.signingTenant()
    const bare = await app.tenant('Bare')
    const owing = await fixture.signingTenant('Owing')
    const late = await fixture.signingTenant('Late')
    const free = await fixture.signingTenant('Free')
    const capped = await fixture.signingTenant('Capped')
    const { tenants } = app.platform
    await tenants.change(fixture.actor, free.id, { plan: 'free' })
    await tenants.change(fixture.actor, capped.id, { plan: 'metered' })
    await tenants.suspend(fixture.actor, owing.id, 'billing')
    await tenants.suspend(fixture.actor, late.id, 'renewal')
    const client = { ip: '203.0.113.7' }
    const headers = {
      authorization: `Bearer ${(await acme.key('passepartout', 'live')).key}`,
      'content-type': 'text/plain',
    }

    const ada = botApi.person()
    const denied = (await acme.live.post(START)).body
    ada.follow(denied.deep_link)
    ada.tap(await ada.waitForMessage(acme.bot), 'Deny')
    await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 0)
    const { nonce } = (await acme.live.post(START, { client })).body
    const tooMany = await acme.live.post(START, { client })
    app.clock.jump(testConfig().passepartout.nonceLifetimeMs)

    const answers = [
      await acme.live.post(START, { client: { ip: 'here' } }),
      await acme.live.get(`${STATUS}?nonce=${nonce}&wait=26`),
      await app.client('no-key').post(START),
      await owing.live.post(START),
      await late.live.post(START),
      await acme.api.post(START),
      await acme.live.get(`${STATUS}?nonce=${denied.nonce}`),
      await acme.live.get(`${STATUS}?nonce=${nonce}`),
      await acme.test.get(`${STATUS}?nonce=${nonce}`),
      await app.client((await bare.key('passepartout', 'live')).key).post(START),
      await acme.live.post(START, { filler: 'x'.repeat(2000) }),
      await app.raw(START, { method: 'POST', headers, body: 'hello' }),
      tooMany,
      await free.live.post(START),
      await capped.live.post(START),
    ]
    expect(tooMany.headers.get('retry-after')).toMatch(/^\d+$/)
    const given = answers.map(({ status, body }) => `${status} ${body.error.code}`)
    const shown = page.table('Status', 'Code').map(([status, code]) => `${status} ${plain(code)}`)
    expect(shown.toSorted()).toEqual(given.toSorted())
    const [body, query] = answers.map((answer) => answer.body.error.message)
    const [example, another] = page.table('Status', 'Code').map(([, , when]) => when)
    expect(example).toBe(`invalid body: \`${body}\``)
    expect(another).toBe(`invalid, unknown or repeated query parameter: \`${query}\``)
  })

  test('have every status of a bot and no other', () => {
    const { enumValues } = passepartoutBots.health
    const shown = page.table('Status', 'Meaning').map(([status]) => plain(status))
    expect(shown.toSorted()).toEqual(['not_configured', 'disabled', ...enumValues].toSorted())
  })

  test('have the bot say what it says', () => {
    const english = createTexts('en')
    const at = Date.parse('2026-11-22T14:02:00.000Z')
    const app = 'Acme'
    const endings = (['approved', 'denied', 'mismatched', 'expired'] as const).map((ending) =>
      english.outcome(ending, { app, at }),
    )
    const replies = (
      [
        'taken_link',
        'answered_link',
        'expired_link',
        'unknown_link',
        'cooling_down',
        'too_many',
        'hello',
      ] as const
    ).map((kind) => english.reply(kind, { app, until: at }))

    const [, ...shown] = page.table('Situation', 'Message').map(([, says]) => says)
    expect(shown).toEqual([...endings, ...replies].map((text) => `“${text.replaceAll('\n', ' ')}”`))
    expect(page.table('Situation', 'Message')[0]?.[1]).toContain('“Sign in to Acme?”')
    expect(
      english.prompt({ app, label: null, device: null, address: null, askedAt: at, match: true }),
    ).toStartWith('Sign in to Acme?')
  })

  test('have the limits of the engine', () => {
    const minutes = (ms: number) => `${ms / 60_000} minutes`
    const shown = (words: string) => said('Limits', words)

    expect(shown('collection after approval')).toBe(`at least ${COLLECT_MS / 1000} seconds`)
    expect(shown('`wait`')).toBe(`at most ${MAX_WAIT_SECONDS} seconds`)
    expect(shown('`poll_interval`')).toBe(`${POLL_INTERVAL} seconds`)
    expect(shown('pause after a denial or wrong number')).toStartWith(minutes(COOL_DOWN_MS))
    expect(shown('opened but not approved')).toStartWith(
      `${MAX_UNAPPROVED} in ${minutes(UNAPPROVED_WINDOW_MS)}`,
    )
    expect(shown('prompts per attempt')).toStartWith(`${MAX_PROMPTS},`)
    expect(shown('replies to other messages')).toBe(
      `${REPLIES_PER_CHAT} a minute in a chat, ${REPLIES_PER_BOT} a minute per bot`,
    )
    expect(shown('`client.user_agent`')).toBe(`${MAX_USER_AGENT_LENGTH} characters`)
    expect(shown('`client.label`')).toBe(`${MAX_LABEL_LENGTH} characters`)
    expect(said('Retention', 'numbers of Telegram messages')).toStartWith(
      `${UPDATES_KEPT_MS / 3_600_000} hours`,
    )
  })

  test('have the settings of a fresh installation', () => {
    const { passepartout, limits, retention } = testConfig()
    const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
    const setting = (section: string, words: string, name: string) => {
      const text = said(section, words)
      expect(text).toContain(`(\`${name}\`)`)
      return Number.parseInt(text, 10)
    }
    const kept = (words: string, name: string) => setting('Retention', words, name)

    expect({
      nonce: setting('Limits', 'attempt', '[passepartout] nonce_lifetime') * minute,
      token: setting('Limits', 'access token', '[passepartout] token_lifetime') * hour,
      starts: setting('Limits', 'starts per', '[limits] login_starts_per_minute'),
      logins: kept('attempts, with', '[retention] logins') * day,
      expired: kept('token hashes', '[retention] expired') * day,
      audit: kept('[audit log]', '[retention] audit') * day,
    }).toEqual({
      nonce: passepartout.nonceLifetimeMs,
      token: passepartout.tokenLifetimeMs,
      starts: limits.loginStartsPerMinute,
      logins: retention.loginsMs,
      expired: retention.expiredMs,
      audit: retention.auditMs,
    })
  })

  test('have everybody of the sandbox', () => {
    for (const { id } of SANDBOX_PEOPLE) expect(page.text).toContain(`\`${id}\``)
  })
})
