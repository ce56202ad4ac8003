import { describe, expect, test } from 'bun:test'
import { eventOf } from '../../src/engines/gate/webhooks/events.ts'
import { newId } from '../../src/platform/ids.ts'
import { bootConsole, DAY, HOUR, MINUTE, SYSTEM, textOf, useConsole } from './fixture.ts'

const WEEK = 7 * DAY

const OPTIONS = { start: '2026-03-10T10:30:00.000Z', flags: { 'metering-free-requests': '10' } }

const app = await useConsole(OPTIONS)

const mainOf = ({ html }: { html: string }) => /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? ''

async function newTenant(at = app) {
  const acme = await at.newTenant()
  const main = async (by: Pick<typeof acme.owner, 'open'> = acme.owner) =>
    mainOf(await by.open('/console'))
  /** What a tile says after its label. */
  const tile = async (label: string) => {
    const tiles = /<ul class="tiles"[\s\S]*?<\/ul>/.exec(await main())?.[0] ?? ''
    const found = tiles.split('<li>').find((one) => one.includes(`>${label}<`)) ?? ''
    return textOf(found).replace(label, '').trim()
  }
  const text = async (by?: Pick<typeof acme.owner, 'open'>) => textOf(await main(by))
  return { ...acme, main, tile, text, ...rowsOf(acme.id, at) }
}

/** Inserts rows as the engines do, at any time. */
function rowsOf(tenantId: string, { db } = app) {
  const insert = (table: string, row: Record<string, string | number>) => {
    const columns = Object.keys(row)
    const sql = `insert into ${table} (${columns}) values (${columns.map(() => '?')})`
    return Number(db.client.query(sql).run(...Object.values(row)).lastInsertRowid)
  }
  return {
    signIn(at: number) {
      const payload = { email: 'mette@example.com' }
      const fields = { type: 'identity.login', identityId: newId(), payload } as const
      const { id, type, payload: body } = eventOf(tenantId, fields, at)
      const row = { id, type, payload: body, accepted_at: at, stream: 'gate.live' }
      insert('messages', { tenant_id: tenantId, ...row })
    },
    runs: (at: number, succeeded: number, failed = 0) =>
      insert('clockwork_hours', { tenant_id: tenantId, hour: at - (at % HOUR), succeeded, failed }),
    delivery(at: number, environment = 'live') {
      const of = { tenant_id: tenantId, stream: `relay.${environment}` }
      const message = { id: newId(), type: 'order.paid', payload: '{}', accepted_at: at, ...of }
      insert('deliveries', {
        ...of,
        id: newId(),
        message_seq: insert('messages', message),
        endpoint_id: 'none',
        format: 'standard',
        state: 'succeeded',
        line: 0,
        run: 1,
        attempts: 1,
        tries: 1,
        trigger: 'schedule',
        due_at: at,
        created_at: at,
        ended_at: at,
      })
    },
    login: (at: number, state = 'approved') =>
      insert('passepartout_attempts', {
        id: newId(),
        tenant_id: tenantId,
        environment: 'live',
        bot_id: 'bot',
        nonce_hash: newId(),
        link_hash: newId(),
        state,
        language: 'en',
        prompts: 1,
        created_at: at,
        expires_at: at + HOUR,
      }),
  }
}

const midnight = (now: number) => now - (now % DAY)

describe('A tile', () => {
  test.each([
    ['Sign-ins today', 'signIn'],
    ['Messenger logins today', 'login'],
    ['Deliveries today', 'delivery'],
  ] as const)('for %s compares today with the same time last week', async (label, kind) => {
    // On a database of its own, because rows are counted in the order in which they were inserted.
    await using own = await bootConsole(OPTIONS)
    const { tile, [kind]: happen } = await newTenant(own)
    const now = own.clock.now()
    const today = midnight(now)
    const lastWeek = today - WEEK
    for (const at of [lastWeek - 1, lastWeek, now - WEEK - HOUR, now - WEEK - 1]) happen(at)
    for (const at of [now - WEEK, today - 1]) happen(at)
    for (const at of [today, now - HOUR, now - 2, now - 1, now]) happen(at)
    expect(await tile(label)).toBe('5 +67% vs. last week')
    happen(now)
    expect(await tile(label)).toBe('6 +100% vs. last week')
  })

  test('for runs counts both outcomes, and part of the current hour last week', async () => {
    const { tile, runs, job, target } = await newTenant()
    const now = app.clock.now()
    const today = midnight(now)
    runs(today - HOUR, 50)
    for (const [at, succeeded] of [
      [today - 1, 100],
      [today, 2],
      [now - HOUR, 8],
      // Half of this hour is over.
      [now, 6],
      [now + HOUR, 100],
    ] as const)
      runs(at - WEEK, succeeded)
    await job()
    expect(await tile('Runs today')).toBe('0 −100% vs. last week')
    runs(today, 12, 1)
    expect(await tile('Runs today')).toBe('13 Same as last week')
    await app.clock.advance(MINUTE)
    target.answers(() => new Response('', { status: 404 }))
    await app.clock.advance(MINUTE)
    expect(await tile('Runs today')).toBe('15 +15% vs. last week')
  })

  test('counts nothing of other tenants or environments, and no failures', async () => {
    const { tile, delivery, login, job } = await newTenant()
    const other = rowsOf((await app.tenant()).id)
    const now = app.clock.now()
    other.signIn(now)
    other.runs(now, 5, 5)
    delivery(now, 'test')
    login(now, 'denied')
    await job({ is_active: false })
    for (const label of ['Sign-ins', 'Runs', 'Messenger logins', 'Deliveries'])
      expect(await tile(`${label} today`)).toBe('0 None last week')
  })
})

test('Upcoming runs are listed once for each job, with the schedule in words', async () => {
  const { main, job, api, target } = await newTenant()
  await job({ name: 'Nightly', schedule: '0 3 * * *' })
  await job({ name: 'Quarterly', schedule: '*/15 * * * *' })
  const run_at = new Date(app.clock.now() + 20 * MINUTE).toISOString()
  await api.post('/v1/clockwork/delayed', { name: 'Reminder', run_at, url: target.url })
  const list = /<ol class="upcoming"[\s\S]*?<\/ol>/.exec(await main())?.[0] ?? ''
  const names = [...list.matchAll(/<a [^>]*>(.*?)<\/a>/g)].map(([, name]) => name)
  expect(names).toEqual(['Quarterly', 'Reminder', 'Nightly'])
  expect(textOf(list)).toContain('Every 15 minutes')
})

test('Events of all engines of the tenant are listed, newest first', async () => {
  const { main, job, signIn, login, endpoint, message } = await newTenant()
  const other = await newTenant()
  await other.job({ name: 'Theirs' })
  await job({ name: 'Hourly' })
  await app.clock.advance(MINUTE)
  const now = app.clock.now()
  signIn(now + 1)
  login(now + 2)
  await app.clock.advance(10)
  await endpoint()
  await message()
  const feed = textOf(/<div id="overview-feed"[\s\S]*?<\/ol>/.exec(await main())?.[0] ?? '')
  expect(feed).toMatch(
    /order\.paid delivered.*Messenger login was approved.*mette@example\.com signed in.*Hourly succeeded/,
  )
  expect(feed).not.toContain('Theirs')
})

test('A new tenant is told how to start, by role', async () => {
  const { text, main, as, job } = await newTenant()
  const started = await text()
  for (const words of ['Your tenant is ready.', '/v1/clockwork/jobs', '/v1/relay/messages'])
    expect(started).toContain(words)
  expect(started).not.toContain('Needs attention')
  expect(await main()).toContain('/console/jobs/new')
  expect(await main(await as('viewer'))).not.toMatch(/\/console\/(jobs\/new|first-key)/)
  await job({ is_active: false })
  expect(await text()).not.toContain('Your tenant is ready.')
})

test('The overview of the installation has its state', async () => {
  const admin = await app.newAdmin()
  const text = textOf(mainOf(await admin.open('/console')))
  for (const words of [/Active tenants \d+/, /Backlog 0/, /Last backup Never/])
    expect(text).toMatch(words)
  const { open } = await app.signIn()
  expect((await open('/console')).text).toContain('not a member of any tenant.')
})

describe('Needs attention', () => {
  test('nothing, as long as there are no problems', async () => {
    const { text, job } = await newTenant()
    await job({ schedule: '0 3 * * *' })
    expect(await text()).toContain('No problems: no failures in 1 job')
  })

  test('failing jobs, the first four of them, until they succeed', async () => {
    const { text, main, job, target } = await newTenant()
    target.answers(() => new Response('', { status: 404 }))
    const id = await job({ name: 'Nightly sync' })
    await app.clock.advance(MINUTE)
    for (const words of ['Status 404', '1 job is failing.']) expect(await text()).toContain(words)
    expect(await main()).toContain(`href="/console/jobs/${id}"`)
    for (let n = 0; n < 5; n++) await job()
    await app.clock.advance(MINUTE)
    for (const words of ['6 jobs are failing.', '2 more jobs are failing'])
      expect(await text()).toContain(words)
    target.answers(() => new Response('ok'))
    await app.clock.advance(MINUTE)
    expect(await text()).toContain('No problems')
  })

  test('endpoints that fail or were disabled by us, in the current environment', async () => {
    const { text, main, owner, relay, endpoint, message, target } = await newTenant()
    target.answers(() => new Response('', { status: 500 }))
    const id = await endpoint()
    await message()
    for (const words of ['1 endpoint is failing.', '1 failed attempt, the first'])
      expect(await text()).toContain(words)
    expect(await main()).toContain(`href="/console/endpoints/${id}"`)
    expect(await text(owner.in('test'))).not.toContain('is failing')
    target.answers(() => new Response('', { status: 410 }))
    await message()
    expect(await text()).toContain('is disabled It returned 410 Gone.')
    for (const active of [true, false]) await relay.patch(`/v1/relay/endpoints/${id}`, { active })
    expect(await text()).not.toContain('is disabled')
  })

  test.each([
    [0, 'ok', null, 'is not enabled', 'Enable'],
    [1, 'unreachable', 'Telegram does not answer', 'Telegram does not answer.', 'Fix'],
  ])('a bot that is not ready (%#)', async (isEnabled, health, issue, words, action) => {
    const { id, text, job } = await newTenant()
    const now = app.clock.now()
    app.db.client
      .query(
        `insert into passepartout_bots (id, tenant_id, environment, platform, platform_bot_id, username,
         token, is_enabled, match, transport, revision, health, trouble, created_at, updated_at)
         values (?, ?, 'live', 'telegram', ?, 'acme_bot', 'sealed', ?, 'optional', 'polling', 0, ?, ?, ?, ?)`,
      )
      .run(newId(), id, newId(), isEnabled, health, issue, now, now)
    await job({ is_active: false })
    const said = await text()
    for (const part of [
      '@acme_bot',
      words,
      action,
      'Everything is running, but something needs attention.',
    ])
      expect(said).toContain(part)
    app.db.client.run('delete from passepartout_bots where tenant_id = ?', [id])
  })

  test('a month of which 80% is used', async () => {
    const { id, text, main, api, job } = await newTenant()
    const { tenants, metering } = app.platform
    await tenants.change(SYSTEM, id, { plan: 'free' })
    const before = (await metering.usageOf(id)).requests
    for (let n = before; n < 7; n++) await api.get('/v1/clockwork/jobs')
    await metering.usageOf(id)
    expect(await text()).not.toContain('80%')
    await job({ is_active: false })
    await metering.usageOf(id)
    expect(await text()).toContain("You've used 80% of this month's included requests.")
    expect(await main()).toContain('href="/console/usage"')
  })

  test('a missing backup, for admins only', async () => {
    const { id, text, main, job } = await newTenant()
    await job({ is_active: false })
    const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'owner' } })
    await admin.actIn(id)
    expect(await text(admin)).toContain('No backup in the last day')
    expect(await main(admin)).toContain('value="installation"')
    expect(await text()).not.toContain('backup')
    await admin.actIn(null)
    expect(await text(admin)).toContain('No backup in the last day')
  })
})
