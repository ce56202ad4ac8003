import { describe, expect, test } from 'bun:test'
import type { Plan } from '../../src/platform/tenants.ts'
import { bootTestApp, type TestAppOptions } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'

const PRICES = {
  'metering-free-requests': '10',
  'metering-overage-price-cents': '50',
  'metering-overage-per': '1',
}
const MINUTE = 60_000
const LAST_MINUTE = { start: '2026-03-31T23:59:00.000Z' }
const MARCH = { start: '2026-03-10T12:00:00.000Z' }

/** A tenant on a plan, and somebody of each role in it. */
async function fixture(plan: Plan = 'metered', options: TestAppOptions = {}) {
  const app = await bootTestApp({ ...MARCH, ...options, flags: { ...PRICES, ...options.flags } })
  const acme = await app.tenant('Acme', plan)
  const person = async (role: 'owner' | 'member' | 'viewer') => {
    const operator = await newOperator(app, { roles: { [acme.id]: role } })
    return { ...(await operator.signIn()), operatorId: operator.id }
  }
  const owner = await person('owner')

  const page = async (path = '/console/usage', by: { headers: Record<string, string> } = owner) =>
    app.raw(path, { headers: { ...by.headers, accept: 'text/html' } })

  const post = (path: string, fields: Record<string, string>, by = owner) =>
    app.raw(path, {
      method: 'POST',
      headers: { ...by.headers, accept: 'text/html' },
      body: formBody(app, by.headers, fields),
    })

  /** Requests that count, on disk. */
  async function use(requests: number, api = acme.api) {
    for (let n = 0; n < requests; n++) await api.get('/v1/clockwork/jobs')
    await app.platform.metering.flush()
  }

  return { ...app, acme, owner, person, page, post, use }
}

/** The sentence with which a page begins. */
const sentenceOf = ({ body }: { body: string }): string =>
  /<p class="sentence">(.*?)<\/p>/s
    .exec(body)?.[1]
    ?.replaceAll(/<[^>]+>/g, '')
    .trim() ?? ''

/** What stands in the field of the cap, read as a browser does. */
const fieldIn = (body: string): string =>
  /<input[^>]*name="spend_cap"[^>]*value="([^"]*)"/
    .exec(body)?.[1]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&') ?? ''

const bannerOf = ({ body }: { body: string }): string | undefined =>
  /<div class="banner (.*?)<\/div>/s.exec(body)?.[1]?.replaceAll(/<[^>]+>/g, ' ')

describe('who sees what a tenant uses', () => {
  test('everybody in the tenant, nobody else', async () => {
    await using app = await fixture()
    const admin = await (await newOperator(app, { isAdmin: true })).signIn()
    const nobody = await (await newOperator(app)).signIn()
    const status = async (by: { headers: Record<string, string> }) =>
      (await app.page('/console/usage', by)).status
    expect({
      owner: await status(app.owner),
      member: await status(await app.person('member')),
      viewer: await status(await app.person('viewer')),
      admin: await status(admin),
      nobody: await status(nobody),
      stranger: await status({ headers: {} }),
    }).toEqual({ owner: 200, member: 200, viewer: 200, admin: 403, nobody: 403, stranger: 303 })
  })

  test('a tenant sees its own requests alone', async () => {
    await using app = await fixture()
    const other = await app.tenant('Other', 'metered')
    await app.use(7, other.api)
    await app.use(2)
    expect(sentenceOf(await app.page())).toStartWith('2 of 10 included requests used (20%).')
  })
})

describe('the first sentence', () => {
  test('says how much of what is included is used, and what that costs', async () => {
    await using app = await fixture()
    await app.use(4)
    expect(sentenceOf(await app.page())).toBe(
      '4 of 10 included requests used (40%). Cost so far: 0.00.',
    )
  })

  test('says what is spent of the cap once all of it is used', async () => {
    await using app = await fixture()
    await app.platform.tenants.change({ kind: 'cli' }, app.acme.id, { spendCapCents: 100_000 })
    await app.use(13)
    expect(sentenceOf(await app.page())).toBe(
      'All 10 included requests are used. Cost of 3 requests beyond them: 1.50 (cap: 1,000.00).',
    )
  })

  test('says from when on something new is taken in again', async () => {
    await using app = await fixture('free')
    await app.use(10)
    expect(sentenceOf(await app.page())).toBe(
      'All 10 included requests are used. Cost so far: 0.00. Requests that create something are rejected until 2026-04-01 00:00 UTC.',
    )
  })

  test('says that there is no limit where there is none', async () => {
    await using app = await fixture('unlimited')
    await app.use(1)
    const page = await app.page()
    expect(sentenceOf(page)).toBe('1 request so far. Your plan has no limit.')
    expect(page.body).not.toContain('Spend cap')
  })

  test('says first that a tenant is suspended', async () => {
    await using app = await fixture()
    await app.platform.tenants.suspend({ kind: 'cli' }, app.acme.id, 'billing')
    expect(sentenceOf(await app.page())).toStartWith(
      'Suspended: requests that create something are rejected.',
    )
  })
})

describe('the pictures', () => {
  test('bars stand against the allowance and the cap, with the shares that are told', async () => {
    await using app = await fixture()
    await app.platform.tenants.change({ kind: 'cli' }, app.acme.id, { spendCapCents: 200 })
    await app.use(12)
    const { body } = await app.page()
    expect(body).toContain(
      'aria-label="Included requests: 12 of 10, 120%. Events are sent at 50%, 80% and 100%."',
    )
    expect(body).toContain(
      'aria-label="Spend cap: 1.00 of 2.00, 50%. Events are sent at 50%, 80% and 100%."',
    )
  })

  test('each day of the month has a bar by engine, which a table says as well', async () => {
    await using app = await fixture()
    const { key } = await app.acme.key('gate', 'test')
    await app.use(3)
    await app.use(2, app.client(key))
    const { body } = await app.page()
    expect(body).toContain('<title>10 Mar: ')
    expect(body).toContain('1 Mar to 31 Mar: ')
    expect(body.match(/<th scope="row">\d+ Mar<\/th>/g)).toHaveLength(31)
  })

  test('a month without requests says what counts', async () => {
    await using app = await fixture()
    const { body } = await app.page()
    expect(body).toContain('No requests in March 2026')
    expect(body).toContain('No requests yet')
  })
})

describe('months', () => {
  test('those before are listed with their cost, and shown by their address', async () => {
    await using app = await fixture('metered', LAST_MINUTE)
    await app.use(12)
    app.clock.jump(MINUTE)
    await app.use(1)
    const { body } = await app.page()
    expect(body).toContain('href="/console/usage?month=2026-03"')
    const march = await app.page('/console/usage?month=2026-03')
    expect(sentenceOf(march)).toBe('12 requests. Cost: 1.00.')
    expect(march.body).not.toContain('id="limits"')
    expect(march.body).toContain('View this month')
  })

  test('what is no month is refused, and a month of which nothing is kept is empty', async () => {
    await using app = await fixture()
    expect((await app.page('/console/usage?month=2026-13')).status).toBe(400)
    expect((await app.page('/console/usage?month=%3Cscript%3E')).body).not.toContain('<script>')
    expect(sentenceOf(await app.page('/console/usage?month=1999-01'))).toBe(
      '0 requests. Cost: 0.00.',
    )
  })
})

describe('where the month ends at this pace', () => {
  const paceOf = ({ body }: { body: string }): string | undefined =>
    /Forecast<\/dt><dd>(.*?)<\/dd>/.exec(body)?.[1]

  test('is said with what it costs, up to the cap', async () => {
    await using app = await fixture('metered', { start: '2026-04-16T00:00:00.000Z' })
    await app.use(20)
    expect(paceOf(await app.page())).toBe(
      'About 40 requests by the end of the month, for about 15.00',
    )
    await app.post('/console/usage/cap', { spend_cap: '7' })
    expect(paceOf(await app.page())).toContain('for about 7.00')
  })

  test('is said without an amount where the plan has none', async () => {
    await using app = await fixture('free', { start: '2026-04-16T00:00:00.000Z' })
    await app.use(1)
    expect(paceOf(await app.page())).toBe('About 2 requests by the end of the month')
  })

  test.each(['2026-04-01T12:00:00.000Z', '2026-04-16T00:00:00.000Z'])(
    'is not guessed from half a day, nor from nothing: %s',
    async (start) => {
      await using app = await fixture('metered', { start })
      if (start.startsWith('2026-04-01')) await app.use(3)
      expect(paceOf(await app.page())).toBeUndefined()
    },
  )
})

describe('the spend cap', () => {
  const capOf = ({ platform, acme }: Awaited<ReturnType<typeof fixture>>) =>
    platform.tenants.find(acme.id).spend_cap_cents

  const changes = ({ db }: Awaited<ReturnType<typeof fixture>>) =>
    db.client
      .query<{ actor_kind: string; actor_id: string; detail: string }, []>(
        "SELECT actor_kind, actor_id, detail FROM audit_log WHERE action = 'tenant.changed' ORDER BY seq",
      )
      .all()

  test.each([
    ['20', 2000],
    ['20.5', 2050],
    ['20,05', 2005],
    ['0', 0],
  ])('an owner sets it: %s', async (typed, cents) => {
    await using app = await fixture()
    const answer = await app.post('/console/usage/cap', { spend_cap: typed })
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/console/usage?done=capped',
    ])
    expect(capOf(app)).toBe(cents)
    expect(changes(app)).toEqual([
      {
        actor_kind: 'operator',
        actor_id: app.owner.operatorId,
        detail: JSON.stringify({ spendCapCents: cents }),
      },
    ])
  })

  test.each([
    '',
    'much',
    '-1',
    '1e3',
    '1,000',
    '1.234',
    '20 EUR',
    '99999999999999',
    '"><script>alert(1)</script>',
  ])('what is no amount comes back beside its field: %s', async (typed) => {
    await using app = await fixture()
    const { status, body } = await app.post('/console/usage/cap', { spend_cap: typed })
    expect(status).toBe(422)
    expect(body).toContain('Must be an amount such as 20 or 20.50')
    expect(body).toContain('aria-invalid="true"')
    expect(fieldIn(body)).toBe(typed)
    expect(body).not.toContain('<script>alert')
    expect([capOf(app), changes(app)]).toEqual([null, []])
  })

  test('an owner takes it away, and the default one holds', async () => {
    await using app = await fixture()
    await app.post('/console/usage/cap', { spend_cap: '20' })
    expect((await app.page()).body).toContain('Remove cap')
    const answer = await app.post('/console/usage/cap/remove', {})
    expect(answer.headers.get('location')).toBe('/console/usage?done=uncapped')
    expect(capOf(app)).toBeNull()
    expect(changes(app)).toHaveLength(2)
    const { body } = await app.page('/console/usage?done=uncapped')
    expect(body).toContain('Spend cap removed.')
    expect(body).not.toContain('Remove cap')
    expect(body).toContain(' (default)')
  })

  test.each(['member', 'viewer'] as const)('a %s finds no form, and is refused', async (role) => {
    await using app = await fixture()
    const other = await app.person(role)
    expect((await app.page('/console/usage', other)).body).not.toContain('name="spend_cap"')
    for (const path of ['/console/usage/cap', '/console/usage/cap/remove'])
      expect((await app.post(path, { spend_cap: '20' }, other)).status).toBe(403)
    expect([capOf(app), changes(app)]).toEqual([null, []])
  })

  test.each(['free', 'unlimited'] as const)('the %s plan has none', async (plan) => {
    await using app = await fixture(plan)
    expect((await app.page()).body).not.toContain('name="spend_cap"')
    for (const path of ['/console/usage/cap', '/console/usage/cap/remove'])
      expect((await app.post(path, { spend_cap: '20' })).status).toBe(409)
    expect(capOf(app)).toBeNull()
  })

  test('a page of another site sets none', async () => {
    await using app = await fixture()
    const answer = await app.raw('/console/usage/cap', {
      method: 'POST',
      headers: { ...app.owner.headers, 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams({ spend_cap: '20' }),
    })
    expect([answer.status, capOf(app)]).toEqual([403, null])
  })
})

describe('over every page of a tenant', () => {
  test('nothing is said at half, and a warning from 80 % on', async () => {
    await using app = await fixture('free')
    await app.use(5)
    expect(bannerOf(await app.page('/console/keys'))).toBeUndefined()
    await app.use(3)
    const banner = bannerOf(await app.page('/console/keys'))
    expect(banner).toStartWith('warn"')
    expect(banner).toContain("You've used 80% of this month's included requests.")
    expect(banner).toContain('View usage')
  })

  test('the end is said with the day on which the month begins anew', async () => {
    await using app = await fixture('free', LAST_MINUTE)
    await app.use(10)
    const banner = bannerOf(await app.page('/console/keys'))
    expect(banner).toStartWith('bad"')
    expect(banner).toContain(
      'Requests that create something are rejected until 2026-04-01 00:00 UTC.',
    )
    app.clock.jump(MINUTE)
    expect(bannerOf(await app.page('/console/keys'))).toBeUndefined()
  })

  test('the spend cap comes before the allowance, and a raised cap is seen at once', async () => {
    await using app = await fixture()
    await app.platform.tenants.change({ kind: 'cli' }, app.acme.id, { spendCapCents: 200 })
    await app.use(10)
    expect(bannerOf(await app.page('/console/keys'))).toContain('Further requests are billed.')
    await app.use(4)
    expect(bannerOf(await app.page('/console/keys'))).toContain('the spend cap of this month')
    await app.platform.tenants.change({ kind: 'cli' }, app.acme.id, { spendCapCents: 20_000 })
    expect(bannerOf(await app.page('/console/keys'))).toContain('Further requests are billed.')
  })

  test('an unlimited plan says nothing, whatever was told before', async () => {
    await using app = await fixture('free')
    await app.use(10)
    await app.platform.tenants.change({ kind: 'cli' }, app.acme.id, { plan: 'unlimited' })
    expect(bannerOf(await app.page('/console/keys'))).toBeUndefined()
  })

  test('somebody who acts for the installation is told nothing', async () => {
    await using app = await fixture('free')
    await app.use(10)
    const admin = await (await newOperator(app, { isAdmin: true })).signIn()
    const page = await app.page('/console', admin)
    expect([page.status, bannerOf(page)]).toEqual([200, undefined])
  })
})

test('a hostile name of a tenant stays text', async () => {
  await using app = await fixture()
  const name = `<script>alert(1)</script>\u202e${'x'.repeat(10_000)}`
  app.db.client.query('UPDATE tenants SET name = ? WHERE id = ?').run(name, app.acme.id)
  const { status, body } = await app.page()
  expect(status).toBe(200)
  expect(body).not.toContain('<script>alert')
})
