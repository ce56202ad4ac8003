import { describe, expect, test } from 'bun:test'
import { newOperator } from '../support/operator.ts'
import { bootHome, job, mainOf, rowsOf, runOnce, tileOf } from './home-fixture.ts'
import { HOSTILE, wordsOf } from './relay/fixture.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = 7 * DAY

describe('the tiles', () => {
  test.each(['Sign-ins today', 'Messenger logins today', 'Deliveries today'])(
    '%s: what happened today, against the same time of last week',
    async (label) => {
      await using here = await bootHome({ start: '2026-03-10T10:30:00.000Z' })
      const now = here.app.clock.now()
      const midnight = now - (now % DAY)
      const { signIn, delivery, login } = rowsOf(here)
      const happen = label.startsWith('S') ? signIn : label.startsWith('D') ? delivery : login
      const lastWeek = [midnight - WEEK, now - WEEK - HOUR, now - WEEK - 1]
      const before = [midnight - WEEK - 1, ...lastWeek, now - WEEK, midnight - 1]
      for (const at of [...before, midnight, now - HOUR, now - 2, now - 1, now]) happen(at)

      expect(await tileOf(here, label)).toBe('5 +67% vs. last week')
      happen(now)
      expect(await tileOf(here, label)).toBe('6 +100% vs. last week')
    },
  )

  test('count nothing of other tenants, of the other environment, or that came to nothing', async () => {
    await using here = await bootHome()
    const other = await here.app.tenant('Other')
    const { signIn, runs, delivery, login } = rowsOf(here)
    const now = here.app.clock.now()
    signIn(now, other.id)
    runs(now, 5, 5, other.id)
    delivery(now, 'test')
    login(now, 'denied')
    await job(here)
    for (const label of ['Sign-ins', 'Runs', 'Messenger logins', 'Deliveries'])
      expect(await tileOf(here, `${label} today`)).toBe('0 None last week')
  })

  test('Runs today: of both outcomes, against as much of the same day of last week', async () => {
    await using here = await bootHome({ start: '2026-03-10T10:30:00.000Z' })
    const now = here.app.clock.now()
    const midnight = now - (now % DAY)
    const { runs } = rowsOf(here)
    runs(midnight - HOUR, 50)
    await job(here)
    // Ten until the hour that is half over, and three in this half.
    const hours = [midnight - 1, midnight, now - HOUR, now, now + HOUR].map((at) => at - WEEK)
    for (const [n, at] of hours.entries()) runs(at, [100, 2, 8, 6, 100][n] ?? 0)
    expect(await tileOf(here, 'Runs today')).toBe('0 −100% vs. last week')
    runs(midnight, 12, 1)
    expect(await tileOf(here, 'Runs today')).toBe('13 Same as last week')
    await runOnce(here)
    here.target.answers(() => new Response('', { status: 404 }))
    await runOnce(here)
    expect(await tileOf(here, 'Runs today')).toBe('15 +15% vs. last week')
  })
})

describe('what comes next, and what happens', () => {
  test('are the jobs that run next, each once, with its schedule in words', async () => {
    await using here = await bootHome({ start: '2026-03-01T12:00:30.000Z' })
    await job(here, { name: 'Nightly', schedule: '0 3 * * *' })
    await job(here, { name: 'Quarterly', schedule: '*/15 * * * *' })
    await here.acme.api.post('/v1/clockwork/delayed', {
      name: 'Reminder',
      run_at: '2026-03-01T12:20:00.000Z',
      url: here.target.url,
    })
    const list = /<ol class="upcoming"[\s\S]*?<\/ol>/.exec(await here.html())?.[0] ?? ''
    const names = [...list.matchAll(/<a [^>]*>(.*?)<\/a>/g)].map(([, name]) => name)
    expect(names).toEqual(['Quarterly', 'Reminder', 'Nightly'])
    expect(wordsOf(list)).toContain('Every 15 minutes')
  })

  test('are things of every engine, the newest first', async () => {
    await using here = await bootHome()
    const { signIn, login } = rowsOf(here)
    await job(here, { name: 'Hourly' })
    await runOnce(here)
    const now = here.app.clock.now()
    signIn(now + 1)
    login(now + 2)
    await here.app.clock.advance(10)
    await here.relay.post('/v1/relay/endpoints', { url: here.target.url })
    await here.relay.post('/v1/relay/messages', { event_type: 'order.paid', payload: {} })
    await here.app.clock.settled()
    const feed = /<div id="overview-feed"[\s\S]*?<\/ol>/.exec(await here.html())?.[0] ?? ''
    const words = wordsOf(feed)
    const said = [
      'order.paid delivered',
      'Messenger login was approved',
      'mette@example.com signed in',
      'Hourly succeeded',
    ]
    const places = said.map((one) => words.indexOf(one))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual(places.toSorted((one, other) => one - other))
  })

  test('have nothing of another tenant', async () => {
    await using here = await bootHome()
    const other = await here.app.tenant('Other')
    await other.api.post('/v1/clockwork/jobs', {
      name: 'Theirs',
      schedule: '* * * * *',
      url: here.target.url,
    })
    await job(here, { name: 'Ours' })
    await runOnce(here)
    expect(await here.words()).toContain('Ours succeeded')
    expect(await here.words()).not.toContain('Theirs')
  })
})

describe('where nothing has happened yet', () => {
  test('is said where to begin, with commands of the tenant', async () => {
    await using here = await bootHome()
    const words = await here.words()
    expect(words).toContain('Your tenant is ready.')
    expect(words).toContain('/v1/clockwork/jobs')
    expect(words).toContain('/v1/relay/messages')
    expect(words).not.toContain('Needs attention')
    await job(here)
    expect(await here.words()).not.toContain('Your tenant is ready.')
  })

  test('a viewer is shown nothing that they may not do', async () => {
    await using here = await bootHome()
    const viewer = await newOperator(here.app, { roles: { [here.acme.id]: 'viewer' } })
    const html = mainOf(await here.html(await viewer.signIn()))
    expect(html).not.toContain('/console/jobs/new')
    expect(html).not.toContain('/console/first-key')
    expect(mainOf(await here.html())).toContain('/console/jobs/new')
  })
})

describe('the overview', () => {
  test.each(Object.entries(HOSTILE))('holds with names that are %s', async (_, name) => {
    await using here = await bootHome()
    here.target.answers(() => new Response('', { status: 404 }))
    // Past the rules for names, as one that is older than they are.
    await job(here)
    here.app.db.client.query('update cron_jobs set name = ?').run(name)
    here.app.db.client.query('update tenants set name = ?').run(name)
    await runOnce(here)
    const html = mainOf(await here.html())
    expect(html).not.toContain('<script>alert')
    expect(html).not.toMatch(/>[^<]*\u202e[^<]*</)
    expect(wordsOf(html).length).toBeLessThan(5000)
  })

  test('of the installation says how it is, and of nowhere that there is nothing', async () => {
    await using here = await bootHome()
    const admin = await (await newOperator(here.app, { isAdmin: true })).signIn()
    const words = await here.words(admin)
    for (const part of ['Active tenants 1', 'Backlog 0', 'Last backup Never'])
      expect(words).toContain(part)
    const nobody = await (await newOperator(here.app)).signIn()
    expect(await here.words(nobody)).toContain('not a member of any tenant.')
  })
})
