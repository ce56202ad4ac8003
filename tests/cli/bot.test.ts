import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../../src/db/open.ts'
import { startBotApi } from '../support/bot-api/index.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startTarget } from '../support/target.ts'

const GARBAGE = ['nonsense', '123', '123:', ':AAF', '123:AAF x', '123:AAF\n456:AAG', '../getMe']
const EMPTY = ['', '\n', ' \t\r\n ']

type Fixture = Awaited<ReturnType<typeof startFixture>>

/** The command line on a data directory with one tenant, and a Bot API server. */
async function startFixture(apiRoot?: string) {
  const folder = temporaryFolder()
  const botApi = startBotApi()
  const env = { GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: apiRoot ?? botApi.url }
  let asked = 0

  function typed(input: string, ...argv: string[]) {
    const read = () => {
      asked += 1
      return input
    }
    return cli(folder.path, { env, input: read })(...argv)
  }

  const gatehouse = (...argv: string[]) => typed('', ...argv)
  const tenant = async (name: string): Promise<string> =>
    (await gatehouse('tenant', 'create', '--name', name, '--json')).json().id
  const acme = await tenant('Acme')
  const whose = (id: string, env = 'live') => ['--tenant', id, '--env', env]

  return {
    folder,
    botApi,
    cli: gatehouse,
    typed,
    tenant,
    acme,
    /** `bot <verb>` for the live bot of Acme. */
    bot: (verb: string, ...more: string[]) => gatehouse('bot', verb, ...whose(acme), ...more),
    set: (token: string, id = acme, ...more: string[]) =>
      typed(token, 'bot', 'set', ...whose(id), '--token-stdin', ...more),
    list: async () => (await gatehouse('bot', 'list', '--json')).json().bots,
    timesAsked: () => asked,
    [Symbol.asyncDispose]: async () => {
      await botApi[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** All that is on disk, byte for byte. */
const onDisk = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')

const secretOf = (token: string) => token.slice(token.indexOf(':') + 1)

async function expectNothing(fixture: Fixture) {
  expect(await fixture.list()).toEqual([])
}

describe('the way of a bot', () => {
  test('set, enable, disable, remove and list, as objects', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot({ name: 'Acme door' })
    const json = async (verb: string) => (await fixture.bot(verb, '--json')).json()

    const set = (await fixture.set(bot.token, fixture.acme, '--json')).json()
    expect(set).toEqual({
      id: expect.any(String),
      tenant_id: fixture.acme,
      environment: 'live',
      platform: 'telegram',
      username: bot.username,
      name: 'Acme door',
      url: `https://t.me/${bot.username}`,
      token: `${bot.id}:…`,
      enabled: false,
      match: 'optional',
      transport: 'polling',
      status: 'disabled',
      issue: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      warnings: [],
    })
    expect(await json('enable')).toMatchObject({
      id: set.id,
      enabled: true,
      status: 'ok',
      warnings: [],
    })
    expect(await fixture.list()).toMatchObject([{ id: set.id, enabled: true }])
    expect(await json('disable')).toMatchObject({ enabled: false, status: 'disabled' })
    expect(await json('remove')).toMatchObject({
      id: set.id,
      username: null,
      name: null,
      url: null,
      token: null,
      enabled: false,
      status: 'not_configured',
    })
    expect(await fixture.list()).toMatchObject([{ id: set.id, status: 'not_configured' }])
  })

  test('and in words', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    const hint = `Enable it with: bot enable --tenant ${fixture.acme} --env live\n`

    expect((await fixture.cli('bot', 'list')).out).toBe('No bots yet.\n')
    expect(await fixture.set(bot.token)).toMatchObject({
      code: 0,
      out: `Set @${bot.username}.\n${hint}`,
      err: '',
    })
    expect(await fixture.bot('enable')).toMatchObject({
      code: 0,
      out: `Enabled @${bot.username}.\n`,
    })
    const [head, row] = (await fixture.cli('bot', 'list')).out.split('\n')
    expect(head?.split(/\s+/)).toEqual([
      'TENANT',
      'ENV',
      'BOT',
      'STATUS',
      'MATCH',
      'TRANSPORT',
      'TROUBLE',
    ])
    expect(row?.split(/\s+/)).toEqual([
      fixture.acme,
      'live',
      `@${bot.username}`,
      'ok',
      'optional',
      'polling',
      '-',
    ])
    expect((await fixture.bot('disable')).out).toBe('Disabled the live bot.\n')
    expect((await fixture.bot('remove')).out).toBe('Removed the live bot.\n')
  })

  test('match and transport are changed without the token, and standard input is left alone', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    await fixture.set(bot.token)
    await fixture.bot('enable')
    const calls = fixture.botApi.calls.length

    const changed = await fixture.bot('set', '--match', 'required', '--json')

    expect(changed.json()).toMatchObject({ match: 'required', enabled: true, token: `${bot.id}:…` })
    expect(fixture.timesAsked()).toBe(1)
    expect(fixture.botApi.calls).toHaveLength(calls)
  })

  test('the list can be that of one tenant', async () => {
    await using fixture = await startFixture()
    const other = await fixture.tenant('Other')
    await fixture.set(fixture.botApi.bot().token)
    await fixture.set(fixture.botApi.bot().token, other)

    const { bots } = (await fixture.cli('bot', 'list', '--tenant', other, '--json')).json()

    expect(bots).toMatchObject([{ tenant_id: other }])
    expect(await fixture.list()).toHaveLength(2)
  })

  test('the bot of the sandbox is made by enabling it', async () => {
    await using fixture = await startFixture()
    const verb = (name: string) =>
      fixture.cli('bot', name, '--tenant', fixture.acme, '--env', 'test', '--json')

    expect((await verb('enable')).json()).toMatchObject({
      environment: 'test',
      platform: 'sandbox',
      token: null,
      transport: null,
      status: 'ok',
    })
    expect((await verb('disable')).json()).toMatchObject({ status: 'disabled' })
    expect(fixture.botApi.calls).toEqual([])
  })
})

describe('the token', () => {
  test.each(['%s', '%s\n', '\n %s \r\n'])('is read from standard input: %j', async (input) => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()

    expect(await fixture.set(input.replace('%s', bot.token))).toMatchObject({ code: 0 })
    expect(fixture.botApi.callsOf('getMe')).toMatchObject([{ token: bot.token, status: 200 }])
  })

  test.each([...EMPTY, ...GARBAGE])('that cannot be one is refused: %j', async (input) => {
    await using fixture = await startFixture()

    expect(await fixture.set(input)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^token: .+\n$/),
    })
    expect(fixture.botApi.calls).toEqual([])
    await expectNothing(fixture)
  })

  test('that Telegram does not know is refused, without its text', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    const old = bot.token
    bot.revokeToken()

    const { code, out, err } = await fixture.set(old, fixture.acme, '--json')

    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(JSON.parse(err)).toEqual({ error: 'token: is not the token of a Telegram bot' })
    await expectNothing(fixture)
  })

  test('of a bot without a username is refused: no link leads to it', async () => {
    await using fixture = await startFixture()

    expect(await fixture.set(fixture.botApi.bot({ username: '' }).token)).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no username'),
    })
    await expectNothing(fixture)
  })

  test('of a person is refused', async () => {
    const result = { id: 42, is_bot: false, first_name: 'Ada', username: 'ada_bot' }
    await using telegram = startTarget(() => Response.json({ ok: true, result }))
    await using fixture = await startFixture(new URL(telegram.url).origin)

    expect(await fixture.set('42:AAFsecret')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not a bot'),
    })
    await expectNothing(fixture)
  })

  test('is no option: it would stand in the list of processes', async () => {
    await using fixture = await startFixture()
    const { token } = fixture.botApi.bot()

    for (const given of [['--token', token], [`--token=${token}`], ['--token-stdin', token]]) {
      const { code, out, err } = await fixture.bot('set', ...given)
      expect(code).toBe(2)
      expect(out).toBe('')
      if (given[0] !== '--token-stdin') expect(err).toContain('unknown option --token')
    }
    await expectNothing(fixture)
  })

  test('is told nowhere, and lies on disk sealed', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    const other = await fixture.tenant('Other')
    const told = [
      await fixture.set(bot.token),
      await fixture.set(bot.token, fixture.acme, '--json'),
      await fixture.set(bot.token, other),
      await fixture.bot('enable', '--json'),
      await fixture.cli('bot', 'list'),
      await fixture.cli('bot', 'list', '--json'),
      await fixture.bot('disable', '--json'),
    ]
    {
      using _ = fixture.botApi.fail({ status: 500, description: `broken for ${bot.token}` })
      told.push(await fixture.set(bot.token), await fixture.bot('enable'))
    }
    const secret = secretOf(bot.token)

    for (const { out, err } of told) expect(out + err).not.toContain(secret)
    expect(onDisk(fixture.folder.path)).not.toContain(secret)
    await fixture.bot('remove')
    expect(onDisk(fixture.folder.path)).not.toContain(secret)
  })
})

test('the log of changes says whose account it was, and holds no secret', async () => {
  await using fixture = await startFixture()
  const { token } = fixture.botApi.bot()
  await fixture.set(token)
  await fixture.bot('enable')
  await fixture.bot('disable')
  await fixture.bot('remove')

  using db = new Database(join(fixture.folder.path, 'data', 'gatehouse.db'), { readonly: true })
  const rows = db
    .query<{ action: string; source: string; detail: string }, []>(
      "SELECT action, source, detail FROM audit_log WHERE action LIKE 'bot.%' ORDER BY seq",
    )
    .all()

  expect(rows.map(({ action }) => action)).toEqual([
    'bot.changed',
    'bot.enabled',
    'bot.disabled',
    'bot.removed',
  ])
  for (const { source } of rows) expect(source).toMatch(/^uid \d+@./)
  expect(JSON.stringify(rows)).not.toContain(secretOf(token))
})

describe('is refused', () => {
  const set = (tenant: string, env: string) => ['bot', 'set', '--tenant', tenant, '--env', env]
  const tests: [string, number, string, (fixture: Fixture) => string[]][] = [
    ['set without anything to set', 2, 'nothing to set', ({ acme }) => set(acme, 'live')],
    [
      'match or transport before there is a token',
      1,
      'token: is required',
      ({ acme }) => [...set(acme, 'live'), '--match', 'required'],
    ],
    [
      'a token in the sandbox',
      1,
      'the test bot is built in',
      ({ acme }) => [...set(acme, 'test'), '--token-stdin'],
    ],
    [
      'a transport in the sandbox',
      1,
      'the test bot is built in',
      ({ acme }) => [...set(acme, 'test'), '--transport', 'polling'],
    ],
    ['an unknown tenant', 1, 'tenant not found', () => [...set('nobody', 'live'), '--token-stdin']],
    [
      'an unknown tenant, to enable',
      1,
      'tenant not found',
      () => ['bot', 'enable', '--tenant', 'nobody', '--env', 'test'],
    ],
    [
      'to enable without a token',
      1,
      'there is no live bot yet',
      ({ acme }) => ['bot', 'enable', '--tenant', acme, '--env', 'live'],
    ],
    [
      'to disable where there is none',
      1,
      'there is no live bot',
      ({ acme }) => ['bot', 'disable', '--tenant', acme, '--env', 'live'],
    ],
    [
      'to remove where there is none',
      1,
      'there is no test bot',
      ({ acme }) => ['bot', 'remove', '--tenant', acme, '--env', 'test'],
    ],
    ['another environment', 2, '--env: must be one of', ({ acme }) => set(acme, 'prod')],
    [
      'another match',
      2,
      '--match: must be one of optional, required',
      ({ acme }) => [...set(acme, 'live'), '--match', 'never'],
    ],
    [
      'another transport',
      2,
      '--transport: must be one of polling, webhook',
      ({ acme }) => [...set(acme, 'live'), '--transport', 'pigeon'],
    ],
    ['no tenant', 2, '--tenant is required', () => ['bot', 'enable', '--env', 'live']],
    ['no environment', 2, '--env is required', ({ acme }) => ['bot', 'enable', '--tenant', acme]],
  ]

  test.each(tests)('%s (exit %i)', async (_, code, message, argv) => {
    await using fixture = await startFixture()
    const { token } = fixture.botApi.bot()

    const answer = await fixture.typed(token, ...argv(fixture))

    expect(answer).toMatchObject({ code, out: '', err: expect.stringContaining(message) })
    expect(fixture.botApi.calls).toEqual([])
    await expectNothing(fixture)
  })

  test('where there is no data: looking makes none', async () => {
    using folder = temporaryFolder()

    const { code, err } = await cli(folder.path)('bot', 'list')

    expect(code).toBe(1)
    expect(err).toContain('no data in')
    expect(readdirSync(folder.path)).toEqual([])
  })
})

describe('a bot that is in use by another tenant', () => {
  test('is refused, until it is removed there', async () => {
    await using fixture = await startFixture()
    const other = await fixture.tenant('Other')
    const bot = fixture.botApi.bot()
    await fixture.set(bot.token)

    expect(await fixture.set(bot.token, other)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('already used by another tenant'),
    })
    expect(await fixture.list()).toMatchObject([{ tenant_id: fixture.acme }])

    await fixture.bot('disable')
    expect((await fixture.set(bot.token, other)).code).toBe(1)
    await fixture.bot('remove')
    expect((await fixture.set(bot.token, other)).code).toBe(0)
    expect((await fixture.set(bot.token)).code).toBe(1)
  })

  test('is refused under its new token too', async () => {
    await using fixture = await startFixture()
    const other = await fixture.tenant('Other')
    const bot = fixture.botApi.bot()
    await fixture.set(bot.token)

    expect((await fixture.set(bot.revokeToken(), other)).code).toBe(1)
  })

  test('is set by one alone of two at the same time', async () => {
    await using fixture = await startFixture()
    const other = await fixture.tenant('Other')
    const { token } = fixture.botApi.bot()

    const codes = (await Promise.all([fixture.set(token), fixture.set(token, other)])).map(
      ({ code }) => code,
    )

    expect(codes.sort()).toEqual([0, 1])
    expect(await fixture.list()).toHaveLength(1)
  })
})

test('of two bots that are set at once for one tenant, one stays', async () => {
  await using fixture = await startFixture()
  const bots = [fixture.botApi.bot(), fixture.botApi.bot()]

  const answers = await Promise.all(bots.map(({ token }) => fixture.set(token)))

  expect(answers.map(({ code }) => code)).toEqual([0, 0])
  const list = await fixture.list()
  expect(list).toHaveLength(1)
  expect(bots.map(({ username }) => username)).toContain(list[0].username)
  expect(list[0].token).toBe(`${list[0].username.split('_')[1]}:…`)
})

describe('a bot whose messages go to another system', () => {
  const SYSTEM = 'https://bots.example/hook/of-secrets'

  test('is set with a warning that names the host alone', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    bot.ownedByWebhook(SYSTEM)

    const { code, out } = await fixture.set(bot.token)
    const { warnings } = (await fixture.set(bot.token, fixture.acme, '--json')).json()

    expect(code).toBe(0)
    expect(out).toContain(`Warning: ${warnings[0]}.\n`)
    expect(warnings).toEqual([expect.stringContaining('through a webhook at bots.example')])
    expect(out).not.toContain('of-secrets')
    expect(bot.webhook?.url).toBe(SYSTEM)
  })

  test('is enabled by --take-over alone, which deletes the webhook', async () => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    bot.ownedByWebhook(SYSTEM)
    await fixture.set(bot.token)

    const refused = await fixture.bot('enable')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('bots.example')
    expect(refused.err).not.toContain('of-secrets')
    expect(bot.webhook?.url).toBe(SYSTEM)
    expect(await fixture.list()).toMatchObject([{ enabled: false }])

    const taken = await fixture.bot('enable', '--take-over')
    expect(taken.code).toBe(0)
    expect(taken.out).toContain('Warning: the webhook at bots.example was removed.\n')
    expect(bot.webhook).toBeUndefined()
    expect(fixture.botApi.callsOf('deleteWebhook')).toMatchObject([
      { params: { drop_pending_updates: false } },
    ])
    expect(await fixture.list()).toMatchObject([{ enabled: true }])
  })
})

describe('Telegram in trouble is told in one line, exit 1, and nothing changes', () => {
  const troubles: [string, Parameters<Fixture['botApi']['fail']>[0], string][] = [
    ['it breaks', { status: 500 }, 'Internal Server Error'],
    ['it asks to wait', { retryAfter: 30 }, 'retry after 30'],
    ['it cuts the connection', { drop: true }, 'cannot be reached'],
    ['something else answers', { garbage: true }, 'not JSON'],
  ]

  test.each(troubles)('%s', async (_, trouble, message) => {
    await using fixture = await startFixture()
    const bot = fixture.botApi.bot()
    {
      using _fault = fixture.botApi.fail(trouble)
      expect(await fixture.set(bot.token)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(new RegExp(`^Telegram: .*${message}.*\\n$`)),
      })
      await expectNothing(fixture)
    }
    await fixture.set(bot.token)
    const before = await fixture.list()
    using _fault = fixture.botApi.fail(trouble)

    expect(await fixture.bot('enable')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(new RegExp(`^Telegram: .*${message}.*\\n$`)),
    })
    expect(await fixture.set(bot.token, fixture.acme, '--match', 'required')).toMatchObject({
      code: 1,
    })
    expect(await fixture.list()).toEqual(before)
  })

  test('it is not there', async () => {
    const gone = startTarget()
    await gone.stop()
    await using fixture = await startFixture(new URL(gone.url).origin)

    expect(await fixture.set('123:AAFsecret')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Telegram: getMe: .* cannot be reached .*\n$/),
    })
    await expectNothing(fixture)
  })
})

test('doctor tells of bots in use that do not receive, and of no others', async () => {
  await using fixture = await startFixture()
  const bots = async () =>
    (await fixture.cli('doctor', '--json'))
      .json()
      .findings.filter(({ check }: { check: string }) => check === 'bots')
  await fixture.set(fixture.botApi.bot({ username: 'acme_bot' }).token)
  await fixture.bot('enable')
  expect(await bots()).toEqual([])

  const file = databaseFile(join(fixture.folder.path, 'data'))
  using client = new Database(file)
  client.run("UPDATE passepartout_bots SET health = 'conflict', trouble = 'somebody else polls'")

  const message = `@acme_bot of tenant ${fixture.acme}: somebody else polls`
  expect(await bots()).toEqual([{ check: 'bots', result: 'warning', message }])
  await fixture.bot('disable')
  expect(await bots()).toEqual([])
})
