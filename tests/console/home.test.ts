import { expect, test } from 'bun:test'
import { eventOf } from '../../src/engines/gate/webhooks/events.ts'
import { newId } from '../../src/platform/ids.ts'
import { bootConsole, DAY, HOUR, MINUTE, pageOf, SYSTEM, textOf, useConsole } from './fixture.ts'

const WEEK = 7 * DAY
const OPTIONS = { start: '2026-03-10T10:30:00.000Z', flags: { 'metering-free-requests': '10' } }

const app = await useConsole(OPTIONS)

async function newTenant(at = app) {
  const acme = await at.newTenant()
  /** The overview without the frame around it. */
  const main = async (by: Pick<typeof acme.owner, 'open'> = acme.owner) => {
    const page = await by.open('/')
    return pageOf({ ...page, body: /<main[\s\S]*<\/main>/.exec(page.html)?.[0] ?? '' })
  }
  const tile = async (label: string) => {
    const tiles = /<ul class="tiles"[\s\S]*?<\/ul>/.exec((await main()).html)?.[0] ?? ''
    const found = tiles.split('<li>').find((one) => one.includes(`>${label}<`)) ?? ''
    return textOf(found).replace(label, '').trim()
  }
  return { ...acme, main, tile, ...rowsOf(acme.id, at) }
}

/** Inserts rows as the engines do, at any time. */
function rowsOf(tenantId: string, { db } = app) {
  const insert = (table: string, row: Record<string, string | number>) => {
    const columns = Object.keys(row)
    const sql = `insert into ${table} (${columns}) values (${columns.map(() => '?')})`
    return Number(db.client.query(sql).run(...Object.values(row)).lastInsertRowid)
  }
  const of = { tenant_id: tenantId }
  const message = (stream: string, type: string, payload: string, at: number, id = newId()) =>
    insert('messages', { ...of, stream, id, type, payload, accepted_at: at })
  return {
    signIn(at: number) {
      const payload = { email: 'mette@example.com' }
      const fields = { type: 'identity.login', identityId: newId(), payload } as const
      const event = eventOf(tenantId, fields, at)
      message('gate.live', event.type, event.payload, at, event.id)
    },
    runs: (at: number, succeeded: number, failed = 0) =>
      insert('clockwork_hours', { ...of, hour: at - (at % HOUR), succeeded, failed }),
    delivery(at: number, environment = 'live') {
      const stream = `relay.${environment}`
      const message_seq = message(stream, 'order.paid', '{}', at)
      const times = { due_at: at, created_at: at, ended_at: at }
      const counts = { line: 0, run: 1, attempts: 1, tries: 1 }
      const how = { format: 'standard', state: 'succeeded', trigger: 'schedule' }
      const row = { ...of, stream, message_seq, id: newId(), endpoint_id: 'none' }
      insert('deliveries', { ...row, ...times, ...counts, ...how })
    },
    login(at: number, state = 'approved') {
      const row = { ...of, environment: 'live', bot_id: 'bot', state, language: 'en', prompts: 1 }
      const ids = { id: newId(), nonce_hash: newId(), link_hash: newId() }
      const times = { created_at: at, expires_at: at + HOUR }
      insert('passepartout_attempts', { ...row, ...ids, ...times })
    },
  }
}

const midnight = (now: number) => now - (now % DAY)

test('A tile compares today with the same time last week', async () => {
  // On a database of its own, because rows are counted in the order in which they were inserted.
  await using own = await bootConsole(OPTIONS)
  const { tile, signIn, login, delivery } = await newTenant(own)
  const now = own.clock.now()
  const today = midnight(now)
  const lastWeek = today - WEEK
  const happen = (at: number) => {
    for (const kind of [signIn, login, delivery]) kind(at)
  }
  const labels = ['Sign-ins today', 'Messenger logins today', 'Deliveries today']
  const tiles = async () => new Set(await Promise.all(labels.map(tile)))
  for (const at of [lastWeek - 1, lastWeek, now - WEEK - HOUR, now - WEEK - 1]) happen(at)
  for (const at of [now - WEEK, today - 1]) happen(at)
  for (const at of [today, now - HOUR, now - 2, now - 1, now]) happen(at)
  expect(await tiles()).toEqual(new Set(['5 +67% vs. last week']))
  happen(now)
  expect(await tiles()).toEqual(new Set(['6 +100% vs. last week']))
})

test('The tile for runs counts both outcomes, and part of the current hour last week', async () => {
  const { tile, runs, job, target } = await newTenant()
  const now = app.clock.now()
  const today = midnight(now)
  const lastWeek = (at: number, succeeded: number) => runs(at - WEEK, succeeded)
  runs(today - HOUR, 50)
  lastWeek(today - 1, 100)
  lastWeek(today, 2)
  lastWeek(now - HOUR, 8)
  // Half of this hour is over.
  lastWeek(now, 6)
  lastWeek(now + HOUR, 100)
  await job()
  expect(await tile('Runs today')).toBe('0 −100% vs. last week')
  runs(today, 12, 1)
  expect(await tile('Runs today')).toBe('13 Same as last week')
  await app.clock.advance(MINUTE)
  target.fails(404)
  await app.clock.advance(MINUTE)
  expect(await tile('Runs today')).toBe('15 +15% vs. last week')
})

test('Tiles count nothing of other tenants or environments, and no failures', async () => {
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

test('Upcoming runs and events of all engines of the tenant are listed', async () => {
  const { main, job, api, target, signIn, login, endpoint, message } = await newTenant()
  const nightly = await job({ name: 'Nightly', schedule: '0 3 * * *' })
  await job({ name: 'Quarterly', schedule: '*/15 * * * *' })
  const run_at = new Date(app.clock.now() + 20 * MINUTE).toISOString()
  await api.post('/v1/clockwork/delayed', { name: 'Reminder', run_at, url: target.url })
  const list = /<ol class="upcoming"[\s\S]*?<\/ol>/.exec((await main()).html)?.[0] ?? ''
  const names = [...list.matchAll(/<a [^>]*>(.*?)<\/a>/g)].map(([, name]) => name)
  expect(names).toEqual(['Quarterly', 'Reminder', 'Nightly'])
  expect(textOf(list)).toContain('Every 15 minutes')
  await (await newTenant()).job({ name: 'Theirs' })
  await api.post(`/v1/clockwork/jobs/${nightly}/run`)
  await app.clock.advance(MINUTE)
  const now = app.clock.now()
  signIn(now + 1)
  login(now + 2)
  await app.clock.advance(10)
  await endpoint()
  await message()
  const { html } = (await main()).omits('Theirs')
  expect(textOf(/<div id="overview-feed"[\s\S]*?<\/ol>/.exec(html)?.[0] ?? '')).toMatch(
    /order\.paid delivered.*Messenger login was approved.*mette@example\.com signed in.*Nightly succeeded/,
  )
})

test('A new tenant is told how to start', async () => {
  const { main, job } = await newTenant()
  ;(await main()).says('Your tenant is ready.', '/get-started"').omits('Needs attention')
  await job({ schedule: '0 3 * * *' })
  ;(await main()).says('No problems: no failures in 1 job').omits('Your tenant is ready.')
})

test('An empty test environment does not call a tenant new', async () => {
  const { main, owner } = await newTenant()
  ;(await main()).says('Your tenant is ready.')
  ;(await main(owner.in('test'))).says('No problems').omits('Your tenant is ready.', 'Runs today')
})

test('The overview of the installation has its state; admins are told of a missing backup', async () => {
  const { id, main, job } = await newTenant()
  await job({ is_active: false })
  const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'owner' } })
  await admin.actIn(id)
  ;(await main(admin)).says('No backup in the last day', '/console/installation/health')
  ;(await main()).omits('backup')
  await admin.actIn(null)
  const installation = (await main(admin)).says('No backup in the last day')
  for (const words of [/Active tenants \d+/, /Backlog 0/, /Last backup Never/])
    expect(installation.text).toMatch(words)
  await (await app.signIn()).sees('/start', 'not a member of any tenant.')
})

test('Failing jobs need attention, the first four of them, until they succeed', async () => {
  const { main, job, target } = await newTenant()
  target.fails(404)
  const id = await job({ name: 'Nightly sync' })
  await app.clock.advance(MINUTE)
  expect((await main()).says('Status 404', '1 job is failing.').links).toContain(`/jobs/${id}`)
  for (let n = 0; n < 5; n++) await job()
  await app.clock.advance(MINUTE)
  ;(await main()).says('6 jobs are failing.', '2 more jobs are failing')
  target.fails(200)
  await app.clock.advance(MINUTE)
  ;(await main()).says('No problems')
})

test('Endpoints that fail or were disabled by us need attention, in their environment', async () => {
  const { main, owner, relay, endpoint, message, target } = await newTenant()
  target.fails(500)
  const id = await endpoint()
  await message()
  const failing = (await main()).says('1 endpoint is failing.', '1 failed attempt, the first')
  expect(failing.links).toContain(`/endpoints/${id}`)
  ;(await main(owner.in('test'))).omits('is failing')
  target.fails(410)
  await message()
  ;(await main()).says('is disabled It returned 410 Gone.')
  for (const active of [true, false]) await relay.patch(`/v1/relay/endpoints/${id}`, { active })
  ;(await main()).omits('is disabled')
})

test('A bot that is not ready needs attention', async () => {
  const { id, main, job } = await newTenant()
  await job({ is_active: false })
  for (const [isEnabled, health, issue, words] of [
    [0, 'ok', null, 'is not enabled'],
    [1, 'unreachable', 'Telegram does not answer', 'Telegram does not answer.'],
  ] as const) {
    app.db.client
      .query(
        `insert into passepartout_bots (id, tenant_id, environment, platform, platform_bot_id, username,
         token, is_enabled, match, transport, revision, health, trouble, created_at, updated_at)
         values (?, ?, 'live', 'telegram', ?, 'acme_bot', 'sealed', ?, 'optional', 'polling', 0, ?, ?, 1, 1)`,
      )
      .run(newId(), id, newId(), isEnabled, health, issue)
    const page = (await main()).says('@acme_bot', words, 'but something needs attention.')
    expect(page.html.includes('/bots/enable"')).toBe(isEnabled === 0)
    app.db.client.run('delete from passepartout_bots where tenant_id = ?', [id])
  }
})

test('A month of which 80% is used needs attention', async () => {
  const { id, main, api, job } = await newTenant()
  const { tenants, metering } = app.platform
  await tenants.change(SYSTEM, id, { plan: 'free' })
  for (let n = (await metering.usageOf(id)).requests; n < 7; n++)
    await api.get('/v1/clockwork/jobs')
  await metering.usageOf(id)
  ;(await main()).omits('80%')
  await job({ is_active: false })
  await metering.usageOf(id)
  const page = (await main()).says("You've used 80% of this month's included requests.")
  expect(page.links).toContain('/usage')
})
