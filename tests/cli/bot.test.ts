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

type World = Awaited<ReturnType<typeof startWorld>>

/** The command line on a data directory with one tenant, and a Bot API server. */
async function startWorld(apiRoot?: string) {
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

async function expectNothing(world: World) {
  expect(await world.list()).toEqual([])
}

describe('the way of a bot', () => {
  test('set, enable, disable, remove and list, as objects', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot({ name: 'Acme door' })
    const json = async (verb: string) => (await world.bot(verb, '--json')).json()

    const set = (await world.set(bot.token, world.acme, '--json')).json()
    expect(set).toEqual({
      id: expect.any(String),
      tenant_id: world.acme,
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
    expect(await world.list()).toMatchObject([{ id: set.id, enabled: true }])
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
    expect(await world.list()).toMatchObject([{ id: set.id, status: 'not_configured' }])
  })

  test('and in words', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    const hint = `Enable it with: bot enable --tenant ${world.acme} --env live\n`

    expect((await world.cli('bot', 'list')).out).toBe('No bots yet.\n')
    expect(await world.set(bot.token)).toMatchObject({
      code: 0,
      out: `Set @${bot.username}.\n${hint}`,
      err: '',
    })
    expect(await world.bot('enable')).toMatchObject({
      code: 0,
      out: `Enabled @${bot.username}.\n`,
    })
    const [head, row] = (await world.cli('bot', 'list')).out.split('\n')
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
      world.acme,
      'live',
      `@${bot.username}`,
      'ok',
      'optional',
      'polling',
      '-',
    ])
    expect((await world.bot('disable')).out).toBe('Disabled the live bot.\n')
    expect((await world.bot('remove')).out).toBe('Removed the live bot.\n')
  })

  test('match and transport are changed without the token, and standard input is left alone', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    await world.set(bot.token)
    await world.bot('enable')
    const calls = world.botApi.calls.length

    const changed = await world.bot('set', '--match', 'required', '--json')

    expect(changed.json()).toMatchObject({ match: 'required', enabled: true, token: `${bot.id}:…` })
    expect(world.timesAsked()).toBe(1)
    expect(world.botApi.calls).toHaveLength(calls)
  })

  test('the list can be that of one tenant', async () => {
    await using world = await startWorld()
    const other = await world.tenant('Other')
    await world.set(world.botApi.bot().token)
    await world.set(world.botApi.bot().token, other)

    const { bots } = (await world.cli('bot', 'list', '--tenant', other, '--json')).json()

    expect(bots).toMatchObject([{ tenant_id: other }])
    expect(await world.list()).toHaveLength(2)
  })

  test('the bot of the sandbox is made by enabling it', async () => {
    await using world = await startWorld()
    const verb = (name: string) =>
      world.cli('bot', name, '--tenant', world.acme, '--env', 'test', '--json')

    expect((await verb('enable')).json()).toMatchObject({
      environment: 'test',
      platform: 'sandbox',
      token: null,
      transport: null,
      status: 'ok',
    })
    expect((await verb('disable')).json()).toMatchObject({ status: 'disabled' })
    expect(world.botApi.calls).toEqual([])
  })
})

describe('the token', () => {
  test.each(['%s', '%s\n', '\n %s \r\n'])('is read from standard input: %j', async (input) => {
    await using world = await startWorld()
    const bot = world.botApi.bot()

    expect(await world.set(input.replace('%s', bot.token))).toMatchObject({ code: 0 })
    expect(world.botApi.callsOf('getMe')).toMatchObject([{ token: bot.token, status: 200 }])
  })

  test.each([...EMPTY, ...GARBAGE])('that cannot be one is refused: %j', async (input) => {
    await using world = await startWorld()

    expect(await world.set(input)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^token: .+\n$/),
    })
    expect(world.botApi.calls).toEqual([])
    await expectNothing(world)
  })

  test('that Telegram does not know is refused, without its text', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    const old = bot.token
    bot.revokeToken()

    const { code, out, err } = await world.set(old, world.acme, '--json')

    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(JSON.parse(err)).toEqual({ error: 'token: is not the token of a Telegram bot' })
    await expectNothing(world)
  })

  test('of a bot without a username is refused: no link leads to it', async () => {
    await using world = await startWorld()

    expect(await world.set(world.botApi.bot({ username: '' }).token)).toMatchObject({
      code: 1,
      err: expect.stringContaining('without a username'),
    })
    await expectNothing(world)
  })

  test('of a person is refused', async () => {
    const result = { id: 42, is_bot: false, first_name: 'Ada', username: 'ada_bot' }
    await using telegram = startTarget(() => Response.json({ ok: true, result }))
    await using world = await startWorld(new URL(telegram.url).origin)

    expect(await world.set('42:AAFsecret')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not a bot'),
    })
    await expectNothing(world)
  })

  test('is no option: it would stand in the list of processes', async () => {
    await using world = await startWorld()
    const { token } = world.botApi.bot()

    for (const given of [['--token', token], [`--token=${token}`], ['--token-stdin', token]]) {
      const { code, out, err } = await world.bot('set', ...given)
      expect(code).toBe(2)
      expect(out).toBe('')
      if (given[0] !== '--token-stdin') expect(err).toContain('unknown option --token')
    }
    await expectNothing(world)
  })

  test('is told nowhere, and lies on disk sealed', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    const other = await world.tenant('Other')
    const told = [
      await world.set(bot.token),
      await world.set(bot.token, world.acme, '--json'),
      await world.set(bot.token, other),
      await world.bot('enable', '--json'),
      await world.cli('bot', 'list'),
      await world.cli('bot', 'list', '--json'),
      await world.bot('disable', '--json'),
    ]
    {
      using _ = world.botApi.fail({ status: 500, description: `broken for ${bot.token}` })
      told.push(await world.set(bot.token), await world.bot('enable'))
    }
    const secret = secretOf(bot.token)

    for (const { out, err } of told) expect(out + err).not.toContain(secret)
    expect(onDisk(world.folder.path)).not.toContain(secret)
    await world.bot('remove')
    expect(onDisk(world.folder.path)).not.toContain(secret)
  })
})

test('the log of changes says whose account it was, and holds no secret', async () => {
  await using world = await startWorld()
  const { token } = world.botApi.bot()
  await world.set(token)
  await world.bot('enable')
  await world.bot('disable')
  await world.bot('remove')

  using db = new Database(join(world.folder.path, 'data', 'gatehouse.db'), { readonly: true })
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
  const tests: [string, number, string, (world: World) => string[]][] = [
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
      'the bot of the test environment is built in',
      ({ acme }) => [...set(acme, 'test'), '--token-stdin'],
    ],
    [
      'a transport in the sandbox',
      1,
      'the bot of the test environment is built in',
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
    await using world = await startWorld()
    const { token } = world.botApi.bot()

    const answer = await world.typed(token, ...argv(world))

    expect(answer).toMatchObject({ code, out: '', err: expect.stringContaining(message) })
    expect(world.botApi.calls).toEqual([])
    await expectNothing(world)
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
    await using world = await startWorld()
    const other = await world.tenant('Other')
    const bot = world.botApi.bot()
    await world.set(bot.token)

    expect(await world.set(bot.token, other)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('used elsewhere on this server'),
    })
    expect(await world.list()).toMatchObject([{ tenant_id: world.acme }])

    await world.bot('disable')
    expect((await world.set(bot.token, other)).code).toBe(1)
    await world.bot('remove')
    expect((await world.set(bot.token, other)).code).toBe(0)
    expect((await world.set(bot.token)).code).toBe(1)
  })

  test('is refused under its new token too', async () => {
    await using world = await startWorld()
    const other = await world.tenant('Other')
    const bot = world.botApi.bot()
    await world.set(bot.token)

    expect((await world.set(bot.revokeToken(), other)).code).toBe(1)
  })

  test('is set by one alone of two at the same time', async () => {
    await using world = await startWorld()
    const other = await world.tenant('Other')
    const { token } = world.botApi.bot()

    const codes = (await Promise.all([world.set(token), world.set(token, other)])).map(
      ({ code }) => code,
    )

    expect(codes.sort()).toEqual([0, 1])
    expect(await world.list()).toHaveLength(1)
  })
})

test('of two bots that are set at once for one tenant, one stays', async () => {
  await using world = await startWorld()
  const bots = [world.botApi.bot(), world.botApi.bot()]

  const answers = await Promise.all(bots.map(({ token }) => world.set(token)))

  expect(answers.map(({ code }) => code)).toEqual([0, 0])
  const list = await world.list()
  expect(list).toHaveLength(1)
  expect(bots.map(({ username }) => username)).toContain(list[0].username)
  expect(list[0].token).toBe(`${list[0].username.split('_')[1]}:…`)
})

describe('a bot whose messages go to another system', () => {
  const SYSTEM = 'https://bots.example/hook/of-secrets'

  test('is set with a warning that names the host alone', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    bot.ownedByWebhook(SYSTEM)

    const { code, out } = await world.set(bot.token)
    const { warnings } = (await world.set(bot.token, world.acme, '--json')).json()

    expect(code).toBe(0)
    expect(out).toContain(`Warning: ${warnings[0]}.\n`)
    expect(warnings).toEqual([expect.stringContaining('through a webhook at bots.example')])
    expect(out).not.toContain('of-secrets')
    expect(bot.webhook?.url).toBe(SYSTEM)
  })

  test('is enabled by --take-over alone, which deletes the webhook', async () => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    bot.ownedByWebhook(SYSTEM)
    await world.set(bot.token)

    const refused = await world.bot('enable')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('bots.example')
    expect(refused.err).not.toContain('of-secrets')
    expect(bot.webhook?.url).toBe(SYSTEM)
    expect(await world.list()).toMatchObject([{ enabled: false }])

    const taken = await world.bot('enable', '--take-over')
    expect(taken.code).toBe(0)
    expect(taken.out).toContain('Warning: the webhook at bots.example was removed.\n')
    expect(bot.webhook).toBeUndefined()
    expect(world.botApi.callsOf('deleteWebhook')).toMatchObject([
      { params: { drop_pending_updates: false } },
    ])
    expect(await world.list()).toMatchObject([{ enabled: true }])
  })
})

describe('Telegram in trouble is told in one line, exit 1, and nothing changes', () => {
  const troubles: [string, Parameters<World['botApi']['fail']>[0], string][] = [
    ['it breaks', { status: 500 }, 'Internal Server Error'],
    ['it asks to wait', { retryAfter: 30 }, 'retry after 30'],
    ['it cuts the connection', { drop: true }, 'cannot be reached'],
    ['something else answers', { garbage: true }, 'not JSON'],
  ]

  test.each(troubles)('%s', async (_, trouble, message) => {
    await using world = await startWorld()
    const bot = world.botApi.bot()
    {
      using _fault = world.botApi.fail(trouble)
      expect(await world.set(bot.token)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(new RegExp(`^Telegram: .*${message}.*\\n$`)),
      })
      await expectNothing(world)
    }
    await world.set(bot.token)
    const before = await world.list()
    using _fault = world.botApi.fail(trouble)

    expect(await world.bot('enable')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(new RegExp(`^Telegram: .*${message}.*\\n$`)),
    })
    expect(await world.set(bot.token, world.acme, '--match', 'required')).toMatchObject({ code: 1 })
    expect(await world.list()).toEqual(before)
  })

  test('it is not there', async () => {
    const gone = startTarget()
    await gone.stop()
    await using world = await startWorld(new URL(gone.url).origin)

    expect(await world.set('123:AAFsecret')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Telegram: getMe: .* cannot be reached .*\n$/),
    })
    await expectNothing(world)
  })
})

test('doctor tells of bots in use that do not receive, and of no others', async () => {
  await using world = await startWorld()
  const bots = async () =>
    (await world.cli('doctor', '--json'))
      .json()
      .findings.filter(({ check }: { check: string }) => check === 'bots')
  await world.set(world.botApi.bot({ username: 'acme_bot' }).token)
  await world.bot('enable')
  expect(await bots()).toEqual([])

  const file = databaseFile(join(world.folder.path, 'data'))
  using client = new Database(file)
  client.run("UPDATE passepartout_bots SET health = 'conflict', trouble = 'somebody else polls'")

  const message = `@acme_bot of tenant ${world.acme}: somebody else polls`
  expect(await bots()).toEqual([{ check: 'bots', result: 'warning', message }])
  await world.bot('disable')
  expect(await bots()).toEqual([])
})
