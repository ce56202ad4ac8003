import { describe, expect, test } from 'bun:test'
import { HOUR, MINUTE, UNKNOWN_ID, useConsole } from '../fixture.ts'

const PAGE = '/console/delayed'

const app = await useConsole()

const inAnHour = () => new Date(app.clock.now() + HOUR).toISOString()

async function newTenant() {
  const acme = await app.newTenant()
  const delayed = async (fields: object = {}) => {
    const job = { name: 'reminder', run_at: inAnHour(), url: acme.target.url, ...fields }
    return (await acme.api.post('/v1/clockwork/delayed', job)).body.id as string
  }
  return { ...acme, delayed }
}

describe('The list', () => {
  test('starts with a command, and finds jobs by status, name and URL', async () => {
    const { owner, delayed, target } = await newTenant()
    const empty = await owner.open(PAGE)
    for (const words of ['No delayed jobs', "/v1/clockwork/delayed'"])
      expect(empty.text).toContain(words)
    const first = await delayed({ name: 'first' })
    const second = await delayed({ name: 'second', url: `${target.url}/orders` })
    await owner.send(`${PAGE}/${second}/cancel`)
    const { html } = await owner.open(PAGE)
    for (const words of ['1 pending, next run', 'Upcoming runs: 1 in the next'])
      expect(html).toContain(words)
    for (const [query, found] of [
      ['', [first, second]],
      ['status=pending', [first]],
      ['status=cancelled', [second]],
      ['q=ORDERS', [second]],
    ] as const)
      expect([query, (await owner.open(`${PAGE}?${query}`)).rows.toSorted()]).toEqual([
        query,
        found.toSorted(),
      ])
    expect((await owner.open(`${PAGE}?q=nothing`)).text).toContain('No matching delayed jobs')
  })

  test('says how many jobs failed in the last 24 hours', async () => {
    const { owner, delayed, target } = await newTenant()
    await delayed({ url: `${target.url}/gone` })
    await delayed()
    target.answers(({ path }) => new Response('', { status: path.endsWith('/gone') ? 404 : 200 }))
    await app.clock.advance(HOUR + MINUTE)
    const { text } = await owner.open(PAGE)
    expect(text).toContain('None pending; 1 of 2 failed in the last 24 hours')
  })

  test('has 50 jobs on a page', async () => {
    const { owner, delayed } = await newTenant()
    const run_at = inAnHour()
    const ids: string[] = []
    for (let n = 0; n < 51; n++) ids.unshift(await delayed({ run_at }))
    const first = await owner.open(PAGE)
    const second = await owner.open(first.next)
    expect([first.rows, second.rows, second.prev]).toEqual([ids.slice(0, 50), ids.slice(50), PAGE])
    expect((await owner.open(`${PAGE}?cursor=abc`)).status).toBe(400)
  })
})

const FORM = { name: 'reminder', method: 'POST', headers: 'X-Token: abc', body: 'kept <b>' }

test('A new job runs at the time that was typed, in UTC', async () => {
  const { id, owner, target } = await newTenant()
  const fields = { ...FORM, run_at: inAnHour().slice(0, 16), url: target.url }
  const { location } = await owner.send(`${PAGE}/new`, fields)
  const [job] = app.clockwork.delayed.list(id)
  expect(job).toMatchObject({
    run_at: `${fields.run_at}:00.000Z`,
    headers: { 'X-Token': 'abc' },
    body: FORM.body,
  })
  expect(location?.split('?')[0]).toBe(`${PAGE}/${job?.id}`)
  expect(owner.audited('delayed_job.created')).toEqual([`delayed_job:${job?.id}`])
})

test.each([
  ['name', ''],
  ['name', 'x'.repeat(10_000)],
  ['run_at', ''],
  ['run_at', '2020-01-01T00:00'],
  ['run_at', '2026-02-30T00:00'],
  ['url', 'ftp://example.com'],
  ['headers', 'no colon'],
])('A new job is refused with an error beside %s', async (name, value) => {
  const { id, owner, target } = await newTenant()
  const run_at = inAnHour().slice(0, 16)
  const { status, wrong, html } = await owner.send(`${PAGE}/new`, {
    ...FORM,
    url: target.url,
    run_at,
    [name]: value,
  })
  expect([status, wrong]).toEqual([422, [name]])
  expect(html).toContain('kept &lt;b>')
  expect(app.clockwork.delayed.list(id)).toEqual([])
})

test('A failed job shows its attempts and the next one', async () => {
  const { owner, delayed, target } = await newTenant()
  const path = `${PAGE}/${await delayed()}`
  target.answers(() => new Response('down', { status: 503 }))
  await app.clock.advance(HOUR + MINUTE)
  const { text } = await owner.open(path)
  for (const words of [
    'Failed; next attempt',
    'Status 503',
    'Next attempt',
    'X-Clockwork-Attempt: 1',
  ])
    expect(text).toContain(words)
  expect((await owner.open(`${path}?execution=${UNKNOWN_ID}`)).status).toBe(404)
  await owner.send(`${path}/cancel`)
})

test('A pending job is cancelled once, by owners', async () => {
  const { owner, as, delayed } = await newTenant()
  const id = await delayed()
  const path = `${PAGE}/${id}`
  expect((await (await as('member')).open(path)).text).not.toContain('Cancel job')
  expect((await owner.open(path)).text).toContain('Cancel job')
  await owner.send(`${path}/cancel`)
  expect((await owner.open(path)).text).toContain('Cancelled')
  expect(owner.audited('delayed_job.cancelled')).toEqual([`delayed_job:${id}`])
  const again = await owner.send(`${path}/cancel`)
  expect([again.status, again.text]).toEqual([
    409,
    expect.stringContaining('Only a pending job can be cancelled'),
  ])
})
