import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../../src/db/open.ts'
import { startBotApi } from '../support/bot-api/index.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

const { path: folder, [Symbol.dispose]: remove } = temporaryFolder()
const botApi = startBotApi()

afterAll(async () => {
  await botApi[Symbol.asyncDispose]()
  remove()
})

/** A tenant of its own, and `bot <verb>` for its live bot; `typed` goes to standard input. */
async function newTenant() {
  const env = { GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: botApi.url }
  let reads = 0
  const typed = (input: string, ...argv: string[]) => {
    const read = () => {
      reads += 1
      return input
    }
    return cli(folder, { env, input: read })(...argv)
  }
  const gatehouse = (...argv: string[]) => typed('', ...argv)
  const { id } = (await gatehouse('tenant', 'create', '--name', 'Acme', '--json')).json()
  const at = (environment: string) => ['--tenant', id as string, '--env', environment]
  return {
    ...{ id: id as string, at, typed, cli: gatehouse, reads: () => reads },
    bot: (verb: string, ...more: string[]) => gatehouse('bot', verb, ...at('live'), ...more),
    set: (token: string, ...more: string[]) =>
      typed(token, 'bot', 'set', ...at('live'), '--token-stdin', ...more),
    list: async () => (await gatehouse('bot', 'list', '--tenant', id, '--json')).json().bots,
  }
}

const words = (line = '') => line.split(/\s+/)

test('A bot is set, enabled, disabled, removed and listed, as objects', async () => {
  const acme = await newTenant()
  const bot = botApi.bot({ name: 'Acme door' })
  const json = async (verb: string, ...more: string[]) =>
    (await acme.bot(verb, ...more, '--json')).json()
  const set = (await acme.set(bot.token, '--json')).json()
  const url = `https://t.me/${bot.username}`
  const known = { tenant_id: acme.id, environment: 'live', platform: 'telegram', url }
  const names = { username: bot.username, name: 'Acme door', token: `${bot.id}:…` }
  const state = { enabled: false, match: 'optional', transport: 'polling', status: 'disabled' }
  const times = { created_at: expect.any(String), updated_at: expect.any(String) }
  const rest = { id: expect.any(String), issue: null, warnings: [], ...times }
  expect(set).toEqual({ ...known, ...names, ...state, ...rest })
  expect(await json('enable')).toMatchObject({ id: set.id, enabled: true, status: 'ok' })
  // Another match needs no token, so standard input is not read.
  const calls = botApi.calls.length
  const changed = { match: 'required', enabled: true, token: `${bot.id}:…` }
  expect(await json('set', '--match', 'required')).toMatchObject(changed)
  expect([acme.reads(), botApi.calls.length]).toEqual([1, calls])
  expect(await json('disable')).toMatchObject({ enabled: false, status: 'disabled' })
  const empty = { username: null, name: null, url: null, token: null, enabled: false }
  expect(await json('remove')).toMatchObject({ ...empty, status: 'not_configured' })
  expect(await acme.list()).toMatchObject([{ id: set.id, status: 'not_configured' }])
  const sandbox = { environment: 'test', platform: 'sandbox', token: null, transport: null }
  const { json: enabled } = await acme.cli('bot', 'enable', ...acme.at('test'), '--json')
  expect(enabled()).toMatchObject({ ...sandbox, status: 'ok' })
  expect(botApi.calls).toHaveLength(calls)
})

test('A bot is set, enabled, disabled, removed and listed, in words', async () => {
  const acme = await newTenant()
  const bot = botApi.bot()
  const list = async () => (await acme.cli('bot', 'list', '--tenant', acme.id)).out
  expect(await list()).toBe('No bots yet.\n')
  const hint = `Enable it with: bot enable --tenant ${acme.id} --env live\n`
  expect((await acme.set(bot.token)).out).toBe(`Set @${bot.username}.\n${hint}`)
  expect((await acme.bot('enable')).out).toBe(`Enabled @${bot.username}.\n`)
  const [head, row] = (await list()).split('\n')
  expect(words(head)).toEqual(words('TENANT ENV BOT STATUS MATCH TRANSPORT TROUBLE'))
  expect(words(row)).toEqual(words(`${acme.id} live @${bot.username} ok optional polling -`))
  expect((await acme.bot('disable')).out).toBe('Disabled the live bot.\n')
  expect((await acme.bot('remove')).out).toBe('Removed the live bot.\n')
})

test('A bot with a webhook elsewhere is set with a warning, and enabled only by --take-over', async () => {
  const acme = await newTenant()
  const bot = botApi.bot()
  bot.ownedByWebhook('https://bots.example/hook/of-secrets')
  const { out } = await acme.set(bot.token)
  const [warning] = (await acme.set(bot.token, '--json')).json().warnings
  expect(warning).toContain('through a webhook at bots.example')
  expect(out).toContain(`Warning: ${warning}.\n`)
  const refused = await acme.bot('enable')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('bots.example')])
  expect(out + refused.err).not.toContain('of-secrets')
  expect(bot.webhook).toBeDefined()
  const taken = await acme.bot('enable', '--take-over')
  expect(taken.out).toContain('Warning: the webhook at bots.example was removed.\n')
  expect(bot.webhook).toBeUndefined()
})

test('A bot is for one tenant, also when two processes set it at once', async () => {
  const [acme, other] = [await newTenant(), await newTenant()]
  const { token } = botApi.bot()
  const set = await Promise.all([acme.set(token), other.set(token)])
  expect(set.map(({ code }) => code).toSorted()).toEqual([0, 1])
  expect(set.map(({ err }) => err).join('')).toContain('already used by another tenant')
})

test('A bot that is enabled and receives nothing is a warning of doctor', async () => {
  const acme = await newTenant()
  const found = async () => {
    const { findings } = (await acme.cli('doctor', '--json')).json()
    return findings.filter(({ message }: { message: string }) => message.includes('@broken_bot'))
  }
  await acme.set(botApi.bot({ username: 'broken_bot' }).token)
  await acme.bot('enable')
  expect(await found()).toEqual([])
  using client = new Database(databaseFile(join(folder, 'data')))
  const broken = "UPDATE passepartout_bots SET health = 'conflict', trouble = ? WHERE tenant_id = ?"
  client.query(broken).run('another program polls', acme.id)
  const message = `@broken_bot of tenant ${acme.id}: another program polls`
  expect(await found()).toEqual([{ check: 'bots', result: 'warning', message }])
  await acme.bot('disable')
  expect(await found()).toEqual([])
})

test('The token is read from standard input alone, and refused when it cannot be one', async () => {
  const acme = await newTenant()
  const bot = botApi.bot()
  const calls = botApi.calls.length
  for (const input of ['', ' \t\r\n ', 'nonsense', '123:AAF\n456:AAG', '../getMe']) {
    const err = expect.stringMatching(/^token: .+\n$/)
    expect(await acme.set(input)).toMatchObject({ code: 1, out: '', err })
  }
  // The list of processes would show an option.
  for (const given of [['--token', bot.token], [`--token=${bot.token}`]])
    expect(await acme.bot('set', ...given)).toMatchObject({ code: 2, out: '' })
  expect(botApi.calls).toHaveLength(calls)
  const nameless = await acme.set(botApi.bot({ username: '' }).token)
  expect([nameless.code, nameless.err]).toEqual([1, expect.stringContaining('has no username')])
  const former = bot.token
  bot.revokeToken()
  const revoked = await acme.set(former, '--json')
  const error = 'token: is not the token of a Telegram bot'
  expect([revoked.code, JSON.parse(revoked.err)]).toEqual([1, { error }])
  expect(await acme.list()).toEqual([])
  expect(await acme.set(`\n ${bot.token} \r\n`)).toMatchObject({ code: 0 })
  expect(await acme.list()).toMatchObject([{ username: bot.username }])
})

test('The token is never printed, and is sealed on disk', async () => {
  const [acme, other] = [await newTenant(), await newTenant()]
  const { token } = botApi.bot()
  const printed = [
    await acme.set(token),
    await acme.set(token, '--json'),
    await other.set(token),
    await acme.bot('enable', '--json'),
    await acme.cli('bot', 'list', '--json'),
    await acme.cli('audit', 'list', '--tenant', acme.id),
  ]
  {
    using _ = botApi.fail({ status: 500, description: `broken for ${token}` })
    printed.push(await acme.set(token), await acme.bot('enable'))
  }
  const [, secret = ''] = token.split(':')
  const onDisk = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, 'latin1'))
  for (const { out, err } of printed) expect(out + err).not.toContain(secret)
  for (const text of onDisk()) expect(text).not.toContain(secret)
})

test('A wrong command is refused before Telegram is asked', async () => {
  const acme = await newTenant()
  const { token } = botApi.bot()
  const calls = botApi.calls.length
  const [live, sandbox, nobody] = [acme.at('live'), acme.at('test'), ['--tenant', 'x', '--env']]
  const refused: [string[], 1 | 2, string][] = [
    [['set', ...live], 2, 'nothing to set'],
    [['set', ...live, '--match', 'required'], 1, 'token: is required'],
    [['set', ...sandbox, '--token-stdin'], 1, 'the test bot is built in'],
    [['set', ...sandbox, '--transport', 'polling'], 1, 'the test bot is built in'],
    [['set', ...nobody, 'live', '--token-stdin'], 1, 'tenant not found'],
    [['enable', ...nobody, 'test'], 1, 'tenant not found'],
    [['enable', ...live], 1, 'there is no live bot yet'],
    [['remove', ...sandbox], 1, 'there is no test bot'],
    [['set', ...live, '--match', 'never'], 2, '--match: must be one of optional, required'],
    [['set', ...live, '--transport', 'x'], 2, '--transport: must be one of polling, webhook'],
    [['enable', '--env', 'live'], 2, '--tenant is required'],
    [['enable', '--tenant', acme.id], 2, '--env is required'],
  ]
  for (const [argv, code, message] of refused) {
    const answer = await acme.typed(token, 'bot', ...argv)
    expect([argv, answer.code, answer.out]).toEqual([argv, code, ''])
    expect(answer.err).toContain(message)
  }
  expect(botApi.calls).toHaveLength(calls)
  expect(await acme.list()).toEqual([])
})

test('When Telegram fails, the command fails in one line and changes nothing', async () => {
  const acme = await newTenant()
  const { token } = botApi.bot()
  const err = expect.stringMatching(/^Telegram: .*cannot be reached.*\n$/)
  const fault = botApi.fail({ drop: true })
  expect(await acme.set(token)).toMatchObject({ code: 1, out: '', err })
  expect(await acme.list()).toEqual([])
  fault.end()
  await acme.set(token)
  const before = await acme.list()
  using _fault = botApi.fail({ drop: true })
  expect(await acme.bot('enable')).toMatchObject({ code: 1, out: '', err })
  expect(await acme.list()).toEqual(before)
})
