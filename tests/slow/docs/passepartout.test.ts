import { expect, test } from 'bun:test'
import { join } from 'node:path'
import * as limits from '../../../src/engines/passepartout/limits.ts'
import { User } from '../../../src/engines/passepartout/model.ts'
import { SANDBOX_PEOPLE } from '../../../src/engines/passepartout/sandbox/people.ts'
import { passepartoutBots } from '../../../src/engines/passepartout/schema.ts'
import { createTexts } from '../../../src/engines/passepartout/texts/index.ts'
import { bootTestApp } from '../../support/app.ts'
import { collect, until } from '../../support/binary.ts'
import { startBotApi } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import { createNames, readConsole } from '../../support/console.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage, plain } from '../../support/page.ts'
import { freePort } from '../../support/port.ts'
import { openShell } from '../../support/shell.ts'
import { PROGRAM, ROOT } from '../../support/source.ts'

/** What docs/passepartout.md shows is run as it stands there; its app in tests/slow/browser. */

const page = await openPage('passepartout.md')
const CAN_TYPE = ['bash', 'curl', 'jq'].every((name) => Bun.which(name) !== null)

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
  const [, ...typed] = page.block('sh', 'gatehouse serve').trim().split(' ')
  const child = Bun.spawn([...PROGRAM, ...typed], {
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
  await shell.run(`gatehouse() { (cd ${ROOT} && exec ${PROGRAM.join(' ')} "$@"); }`)
  const running = ends.move()
  return { url, telegram, shell, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

test.skipIf(!CAN_TYPE)(
  'The commands print what the page says',
  async () => {
    await using shop = await openShop()
    const bot = shop.telegram.bot({ username: 'acme_signin_bot' })
    const names = createNames()
    const hereAndNow = (text: string) =>
      text.replaceAll('http://127.0.0.1:8420', shop.url).replace(/(?<="match_code":")\d\d/, '…')

    const commands = page.blocks('console').flatMap(readConsole)
    expect(commands).toHaveLength(17)
    for (const { command, output } of commands) {
      // What is typed there without being shown; here it would be the next command.
      const typed = command.startsWith('read -rs TOKEN') ? `TOKEN=${bot.token}` : command
      const printed = (await shop.shell.run(names.translate(typed))).replaceAll('\n', '')
      if (!names.matches({ command, output: hereAndNow(output) }, printed))
        expect([command, printed]).toEqual([command, output])
      const key = /^svc_passepartout_test_sk_\w{43}/.exec(printed)?.[0]
      if (key) await shop.shell.run(`AUTH="Authorization: Bearer ${key}"`)
    }
    await shop.telegram.waitForPoller(bot)

    const tenant = names.translate('01a20241-0c7e-7b1a-9d53-6a1f0e5b7c21')
    await shop.shell.run(page.block('sh', '--transport webhook').replaceAll('…', tenant))
    await until(() => bot.webhook !== undefined)
    expect(bot.webhook?.url).toStartWith(`${shop.url}/v1/passepartout/telegram/`)
  },
  60_000,
)

/** The second cell of the row that begins with these words, in the tables of one section. */
function said(section: string, words: string): string {
  const [text = ''] = page.text.split(`\n## ${section}\n`)[1]?.split('\n## ') ?? []
  const rows = text.split('\n').filter((line) => line.startsWith(`| ${words}`))
  expect([words, rows]).toEqual([words, [expect.any(String)]])
  return rows[0]?.split('|')[2]?.trim() ?? ''
}

test('The tables have every route, field of a user, status of a bot and person of the sandbox, and the texts of the bot', async () => {
  await using app = await bootTestApp()
  const { paths } = (await app.raw('/openapi.json')).body
  const routes = Object.entries<object>(paths)
    .filter(([path]) => path.startsWith('/v1/passepartout/'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .map((route) => route.replace('/v1/passepartout', '').replace('{user_id}', '{id}'))
  const firstOf = (...head: string[]) => page.table(...head).map(([name]) => plain(name))
  expect(firstOf('Route', 'Request').toSorted()).toEqual(routes.toSorted())
  expect(firstOf('Field', 'Type')).toEqual(Object.keys(User.properties))
  const { enumValues } = passepartoutBots.health
  const statuses = ['not_configured', 'disabled', ...enumValues]
  expect(firstOf('Status', 'Meaning').toSorted()).toEqual(statuses.toSorted())
  for (const { id } of SANDBOX_PEOPLE) expect(page.text).toContain(`\`${id}\``)

  const english = createTexts('en')
  const at = Date.parse('2026-11-22T14:02:00.000Z')
  const outcomes = ['approved', 'denied', 'mismatched', 'expired'] as const
  const links = ['taken_link', 'answered_link', 'expired_link', 'unknown_link'] as const
  const replies = [...links, 'cooling_down', 'too_many', 'hello'] as const
  const texts = [
    ...outcomes.map((kind) => english.outcome(kind, { app: 'Acme', at })),
    ...replies.map((kind) => english.reply(kind, { app: 'Acme', until: at })),
  ]
  const [question, ...shown] = page.table('Situation', 'Message').map(([, says]) => says)
  expect(question).toContain('“Sign in to Acme?”')
  expect(shown).toEqual(texts.map((text) => `“${text.replaceAll('\n', ' ')}”`))
})

test('The tables have the limits of the engine and the default settings', () => {
  const { passepartout, limits: perMinute, retention } = testConfig()
  const minutes = (ms: number) => `${ms / 60_000} minute`
  const hours = (ms: number) => `${ms / 3_600_000} hour`
  const days = (ms: number) => `${ms / 86_400_000} day`
  const unapproved = `${limits.MAX_UNAPPROVED} in ${minutes(limits.UNAPPROVED_WINDOW_MS)}`
  const inChat = `${limits.REPLIES_PER_CHAT} a minute in a chat`
  const starts = `${perMinute.loginStartsPerMinute} a minute`
  for (const [section, words, text] of [
    ['Limits', 'collection after approval', `at least ${limits.COLLECT_MS / 1000} seconds`],
    ['Limits', '`wait`', `at most ${limits.MAX_WAIT_SECONDS} seconds`],
    ['Limits', '`poll_interval`', `${limits.POLL_INTERVAL} seconds`],
    ['Limits', 'pause after a denial or wrong number', minutes(limits.COOL_DOWN_MS)],
    ['Limits', 'opened but not approved', unapproved],
    ['Limits', 'prompts per attempt', `${limits.MAX_PROMPTS},`],
    ['Limits', 'replies to other', `${inChat}, ${limits.REPLIES_PER_BOT} a minute per bot`],
    ['Limits', '`client.user_agent`', `${limits.MAX_USER_AGENT_LENGTH} characters`],
    ['Limits', '`client.label`', `${limits.MAX_LABEL_LENGTH} characters`],
    ['Limits', 'attempt', minutes(passepartout.nonceLifetimeMs)],
    ['Limits', 'access token', hours(passepartout.tokenLifetimeMs)],
    ['Limits', 'starts per', starts],
    ['Retention', 'numbers of Telegram messages', hours(limits.UPDATES_KEPT_MS)],
    ['Retention', 'attempts, with', days(retention.loginsMs)],
    ['Retention', 'token hashes', days(retention.expiredMs)],
    ['Retention', '[audit log]', days(retention.auditMs)],
  ] as const)
    expect(said(section, words)).toStartWith(text)
})
