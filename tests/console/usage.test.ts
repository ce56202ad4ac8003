import { describe, expect, test } from 'bun:test'
import type { Plan } from '../../src/platform/tenants.ts'
import { audited, bootConsole, MINUTE, type Page, SYSTEM, useConsole } from './fixture.ts'

const PAGE = '/console/usage'
/** The default cap of 10 requests, then 0.50 each. */
const flags = {
  'metering-free-requests': '10',
  'metering-overage-price-cents': '50',
  'metering-overage-per': '1',
}

const app = await useConsole({ flags, start: '2026-03-10T12:00:00.000Z' })

/** A tenant on a plan that has made some requests. */
async function tenantOn(plan: Plan, requests = 0, at = app) {
  const acme = await at.newTenant('Acme', plan)
  const use = async (requests: number) => {
    for (let n = 0; n < requests; n++) await acme.api.get('/v1/clockwork/jobs')
    await at.platform.metering.flush()
  }
  await use(requests)
  const { owner } = acme
  return {
    ...acme,
    use,
    see: (query = '') => owner.open(PAGE + query),
    banner: async () => bannerOf(await owner.open('/console/settings')),
    change: (fields: object) => at.platform.tenants.change(SYSTEM, acme.id, fields),
    cap: () => at.platform.tenants.find(acme.id).spend_cap_cents,
  }
}

const sentenceOf = ({ html }: Page) =>
  /<p class="sentence">(.*?)<\/p>/s.exec(html)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? ''
const bannerOf = ({ html }: Page) =>
  /<div class="banner (.*?)<\/div>/s.exec(html)?.[1]?.replaceAll(/<[^>]+>/g, ' ')

test.each<[Plan, number, number | undefined, string]>([
  ['metered', 4, undefined, '4 of 10 included requests used (40%). Cost so far: 0.00.'],
  [
    'metered',
    13,
    100_000,
    'All 10 included requests are used. Cost of 3 requests beyond them: 1.50 (cap: 1,000.00).',
  ],
  [
    'free',
    10,
    undefined,
    'All 10 included requests are used. Cost so far: 0.00. Requests that create something are rejected until 2026-04-01 00:00 UTC.',
  ],
  ['unlimited', 1, undefined, '1 request so far. Your plan has no limit.'],
])('On the %s plan, %d requests are summarized', async (plan, requests, spendCapCents, words) => {
  const { see, change } = await tenantOn(plan, requests)
  if (spendCapCents !== undefined) await change({ spendCapCents })
  const page = await see()
  expect(sentenceOf(page)).toBe(words)
  expect(page.text.includes('Spend cap')).toBe(plan === 'metered')
})

test('A suspension is said first', async () => {
  const { id, see } = await tenantOn('metered')
  await app.platform.tenants.suspend(SYSTEM, id, 'billing')
  expect(sentenceOf(await see())).toStartWith(
    'Suspended: requests that create something are rejected.',
  )
})

test('Charts show the allowance, the cap, and each day by engine', async () => {
  const { see, use, change, clientOf } = await tenantOn('metered', 9)
  await change({ spendCapCents: 200 })
  const gate = await clientOf('gate', 'test')
  for (let n = 0; n < 3; n++) await gate.get('/v1/gate/identities')
  await use(0)
  const { html } = await see()
  for (const words of [
    'aria-label="Included requests: 12 of 10, 120%. Events are sent at 50%, 80% and 100%."',
    'aria-label="Spend cap: 1.00 of 2.00, 50%. Events are sent at 50%, 80% and 100%."',
    '<title>10 Mar: ',
    '1 Mar to 31 Mar: ',
  ])
    expect(html).toContain(words)
  expect(html.match(/<th scope="row">\d+ Mar<\/th>/g)).toHaveLength(31)
  const empty = await (await tenantOn('metered')).see()
  for (const words of ['No requests in March 2026', 'No requests yet'])
    expect(empty.text).toContain(words)
})

test('Earlier months have their own page', async () => {
  await using own = await bootConsole({ flags, start: '2026-03-31T23:59:00.000Z' })
  const { see, use, banner, owner } = await tenantOn('metered', 12, own)
  expect(await banner()).toContain('Further requests are billed.')
  own.clock.jump(MINUTE)
  expect(await banner()).toBeUndefined()
  await use(1)
  expect((await see()).html).toContain('href="/console/usage?month=2026-03"')
  const march = await see('?month=2026-03')
  expect(sentenceOf(march)).toBe('12 requests. Cost: 1.00.')
  expect(march.html).not.toContain('id="limits"')
  expect(march.text).toContain('View this month')
  expect(sentenceOf(await see('?month=1999-01'))).toBe('0 requests. Cost: 0.00.')
  for (const month of ['2026-13', '%3Cscript%3E'])
    expect((await owner.open(`${PAGE}?month=${month}`)).status).toBe(400)
})

describe('The forecast', () => {
  const forecastOf = ({ html }: Page) => /Forecast<\/dt><dd>(.*?)<\/dd>/.exec(html)?.[1]

  test('has the requests of the month and their cost, up to the cap', async () => {
    await using own = await bootConsole({ flags, start: '2026-04-16T00:00:00.000Z' })
    const metered = await tenantOn('metered', 20, own)
    expect(forecastOf(await metered.see())).toBe(
      'About 40 requests by the end of the month, for about 15.00',
    )
    await metered.owner.send(`${PAGE}/cap`, { spend_cap: '7' })
    expect(forecastOf(await metered.see())).toContain('for about 7.00')
    const free = await tenantOn('free', 1, own)
    expect(forecastOf(await free.see())).toBe('About 2 requests by the end of the month')
    expect(forecastOf(await (await tenantOn('metered', 0, own)).see())).toBeUndefined()
  })

  test('is missing on the first day', async () => {
    await using own = await bootConsole({ flags, start: '2026-04-01T12:00:00.000Z' })
    expect(forecastOf(await (await tenantOn('metered', 3, own)).see())).toBeUndefined()
  })
})

describe('The spend cap', () => {
  test.each([
    ['20', 2000],
    ['20.5', 2050],
    ['20,05', 2005],
    ['0', 0],
  ])('is set by owners: %s', async (typed, cents) => {
    const { id, owner, cap } = await tenantOn('metered')
    const { location } = await owner.send(`${PAGE}/cap`, { spend_cap: typed })
    expect([location, cap()]).toEqual([`${PAGE}?done=capped`, cents])
    expect(owner.audited('tenant.changed')).toHaveLength(1)
    const entry = audited(app, 'tenant.changed').findLast(({ tenant_id }) => tenant_id === id)
    expect(entry?.detail).toBe(JSON.stringify({ spendCapCents: cents }))
  })

  test.each(['', 'much', '-1', '1e3', '1,000', '1.234', '20 EUR', '99999999999999'])(
    'is refused: %j',
    async (typed) => {
      const { owner, cap } = await tenantOn('metered')
      const { status, wrong, html } = await owner.send(`${PAGE}/cap`, { spend_cap: typed })
      expect([status, wrong, cap()]).toEqual([422, ['spend_cap'], null])
      expect(html).toMatch(new RegExp(`name="spend_cap"[^>]* value(="${typed}")?`))
      expect(owner.audited('tenant.changed')).toEqual([])
    },
  )

  test('is removed, and offered only to owners on the metered plan', async () => {
    const { owner, as, see, cap } = await tenantOn('metered')
    await owner.send(`${PAGE}/cap`, { spend_cap: '20' })
    expect((await see()).text).toContain('Remove cap')
    const removed = await owner.send(`${PAGE}/cap/remove`)
    expect([removed.location, cap()]).toEqual([`${PAGE}?done=uncapped`, null])
    const { text } = await owner.follow(removed)
    for (const words of ['Spend cap removed.', ' (default)']) expect(text).toContain(words)
    expect(text).not.toContain('Remove cap')
    expect(owner.audited('tenant.changed')).toHaveLength(2)
    expect((await (await as('member')).open(PAGE)).html).not.toContain('name="spend_cap"')
    for (const plan of ['free', 'unlimited'] as const) {
      const other = await tenantOn(plan)
      expect((await other.see()).html).not.toContain('name="spend_cap"')
      for (const path of ['/cap', '/cap/remove'])
        expect((await other.owner.send(PAGE + path, { spend_cap: '20' })).status).toBe(409)
    }
  })
})

describe('A banner on every page of the tenant', () => {
  test('warns from 80% of the allowance, and says when it is used up', async () => {
    const { use, banner, change } = await tenantOn('free', 5)
    expect(await banner()).toBeUndefined()
    await use(3)
    const warning = await banner()
    expect(warning).toStartWith('warn"')
    for (const words of ["You've used 80% of this month's included requests.", 'View usage'])
      expect(warning).toContain(words)
    await use(2)
    const end = await banner()
    expect(end).toStartWith('bad"')
    expect(end).toContain('Requests that create something are rejected until 2026-04-01 00:00 UTC.')
    const admin = await app.newAdmin()
    expect(bannerOf(await admin.open('/console'))).toBeUndefined()
    await change({ plan: 'unlimited' })
    expect(await banner()).toBeUndefined()
  })

  test('warns of the spend cap first, until it is raised', async () => {
    const { use, banner, change } = await tenantOn('metered', 10)
    await change({ spendCapCents: 200 })
    expect(await banner()).toContain('Further requests are billed.')
    await use(4)
    expect(await banner()).toContain('the spend cap of this month')
    await change({ spendCapCents: 20_000 })
    expect(await banner()).toContain('Further requests are billed.')
  })
})
