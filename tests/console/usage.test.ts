import { expect, test } from 'bun:test'
import type { Plan } from '../../src/platform/tenants.ts'
import { audited, bootConsole, MINUTE, type Page, SYSTEM, useConsole } from './fixture.ts'

const PAGE = '/usage'
/** The default cap of 10 requests, then 0.50 each. */
const flags = {
  'metering-free-requests': '10',
  'metering-overage-price-cents': '50',
  'metering-overage-per': '1',
}

const app = await useConsole({ flags, start: '2026-03-10T12:00:00.000Z' })

async function tenantOn(plan: Plan, requests = 0, at = app) {
  const acme = await at.newTenant('Acme', plan)
  const use = async (requests: number) => {
    for (let n = 0; n < requests; n++) await acme.api.get('/v1/clockwork/jobs')
    await at.platform.metering.flush()
  }
  await use(requests)
  return {
    ...acme,
    use,
    see: (query = '') => acme.owner.open(PAGE + query),
    banner: async () => bannerOf(await acme.owner.open('/settings')),
    change: (fields: object) => at.platform.tenants.change(SYSTEM, acme.id, fields),
    cap: () => at.platform.tenants.find(acme.id).spend_cap_cents,
  }
}

const sentenceOf = ({ html }: Page) =>
  /<p class="sentence">(.*?)<\/p>/s.exec(html)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? ''
const bannerOf = ({ html }: Page) =>
  /<div class="banner (.*?)<\/div>/s.exec(html)?.[1]?.replaceAll(/<[^>]+>/g, ' ')
const forecastOf = ({ html }: Page) => /Forecast<\/dt><dd>(.*?)<\/dd>/.exec(html)?.[1]

test.each<[Plan, number, string]>([
  ['metered', 4, '4 of 10 included requests used (40%). Cost so far: 0.00.'],
  [
    'metered',
    13,
    'All 10 included requests are used. Cost of 3 requests beyond them: 1.50 (cap: 1,000.00).',
  ],
  [
    'free',
    10,
    'All 10 included requests are used. Cost so far: 0.00. Requests that create something are rejected until 2026-04-01 00:00 UTC.',
  ],
  ['unlimited', 1, '1 request so far. Your plan has no limit.'],
])('On the %s plan, %d requests are summarized', async (plan, requests, words) => {
  const { id, see, change } = await tenantOn(plan, requests)
  if (requests === 13) await change({ spendCapCents: 100_000 })
  const page = await see()
  expect([sentenceOf(page), page.text.includes('Spend cap')]).toEqual([words, plan === 'metered'])
  await app.platform.tenants.suspend(SYSTEM, id, 'billing')
  const suspended = 'Suspended: requests that create something are rejected.'
  expect(sentenceOf(await see())).toStartWith(suspended)
})

test('Charts show the allowance, the cap, and each day by engine', async () => {
  const { see, change } = await tenantOn('metered', 12)
  await change({ spendCapCents: 200 })
  const { html } = (await see()).says(
    'aria-label="Included requests: 12 of 10, 120%. Events are sent at 50%, 80% and 100%."',
    'aria-label="Spend cap: 1.00 of 2.00, 50%. Events are sent at 50%, 80% and 100%."',
    '<title>10 Mar: ',
    '1 Mar to 31 Mar: ',
  )
  expect(html.match(/<th scope="row">\d+ Mar<\/th>/g)).toHaveLength(31)
})

test('Earlier months have their own page; the forecast starts on the second day', async () => {
  await using own = await bootConsole({ flags, start: '2026-03-31T23:59:00.000Z' })
  const { see, use, banner, owner } = await tenantOn('metered', 12, own)
  expect(await banner()).toContain('Further requests are billed.')
  own.clock.jump(MINUTE)
  expect(await banner()).toBeUndefined()
  await use(1)
  expect((await see()).links).toContain('/usage?month=2026-03')
  const march = (await see('?month=2026-03')).says('View this month').omits('id="limits"')
  expect(sentenceOf(march)).toBe('12 requests. Cost: 1.00.')
  expect(sentenceOf(await see('?month=1999-01'))).toBe('0 requests. Cost: 0.00.')
  for (const month of ['2026-13', '%3Cscript%3E'])
    expect((await owner.open(`${PAGE}?month=${month}`)).status).toBe(400)
  expect(forecastOf(await see())).toBeUndefined()
  own.clock.jump(15 * 24 * 60 * MINUTE)
  const later = await own.sessionOf(owner)
  await use(19)
  const forecast = async () => forecastOf(await later.open(PAGE))
  expect(await forecast()).toBe('About 40 requests by the end of the month, for about 15.00')
  await later.send(`${PAGE}/cap`, { spend_cap: '7' })
  expect(await forecast()).toContain('for about 7.00')
  const free = await tenantOn('free', 1, own)
  expect(forecastOf(await free.see())).toBe('About 2 requests by the end of the month')
  expect(forecastOf(await (await tenantOn('metered', 0, own)).see())).toBeUndefined()
})

test('The spend cap is set and removed by owners, in any notation', async () => {
  const { id, owner, see, cap } = await tenantOn('metered')
  const changes = () => audited(app, 'tenant.changed').filter(({ tenant_id }) => tenant_id === id)
  for (const [typed, cents] of [
    ['20', 2000],
    ['20.5', 2050],
    ['20,05', 2005],
    ['0', 0],
  ] as const) {
    await owner.send(`${PAGE}/cap`, { spend_cap: typed })
    expect(cap()).toBe(cents)
    expect(changes().at(-1)?.detail).toBe(JSON.stringify({ spendCapCents: cents }))
  }
  ;(await see()).says('Remove cap')
  ;(await owner.press(PAGE, 'Remove cap'))
    .says('Spend cap removed.', ' (default)')
    .omits('Remove cap')
  expect([cap(), owner.audited('tenant.changed').length]).toEqual([null, 5])
  expect(changes()).toHaveLength(5)
  for (const plan of ['free', 'unlimited'] as const) {
    const other = await tenantOn(plan)
    ;(await other.see()).omits('name="spend_cap"')
    const { send } = other.owner
    expect((await send(`${PAGE}/cap`, { spend_cap: '20' })).status).toBe(422)
    expect((await send(`${PAGE}/cap/remove`)).status).toBe(409)
  }
})

test('A banner warns from 80% of the allowance, and of the spend cap first', async () => {
  const { use, banner, change } = await tenantOn('free', 5)
  expect(await banner()).toBeUndefined()
  await use(3)
  expect(await banner()).toMatch(/^warn".*You've used 80% of this month's.*View usage/s)
  await use(2)
  expect(await banner()).toMatch(/^bad".*something are rejected until 2026-04-01 00:00 UTC\./s)
  expect(bannerOf(await (await app.newAdmin()).open('/'))).toBeUndefined()
  await change({ plan: 'unlimited' })
  expect(await banner()).toBeUndefined()
  await change({ plan: 'metered', spendCapCents: 200 })
  expect(await banner()).toContain('Further requests are billed.')
  await use(4)
  expect(await banner()).toContain('the spend cap of this month')
  await change({ spendCapCents: 20_000 })
  expect(await banner()).toContain('Further requests are billed.')
})
