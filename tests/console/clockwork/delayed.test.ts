import { expect, test } from 'bun:test'
import { HOUR, MINUTE, UNKNOWN_ID, useConsole } from '../fixture.ts'

const PAGE = '/delayed'
const FORM = { name: 'reminder', method: 'POST', headers: 'X-Token: abc', body: 'kept <b>' }

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

test('The list starts with a command, and finds jobs by status, name and URL', async () => {
  const { owner, delayed, target } = await newTenant()
  await owner.sees(PAGE, 'No delayed jobs', "/v1/clockwork/delayed'")
  const first = await delayed({ name: 'first' })
  const second = await delayed({ name: 'second', url: `${target.url}/orders` })
  await owner.send(`${PAGE}/${second}/cancel`)
  await owner.sees(PAGE, '1 pending, next run', 'Upcoming runs: 1 in the next')
  for (const [query, found] of [
    ['', [first, second]],
    ['status=pending', [first]],
    ['status=cancelled', [second]],
    ['q=ORDERS', [second]],
  ] as const) {
    const { rows } = await owner.open(`${PAGE}?${query}`)
    expect([query, rows.toSorted()]).toEqual([query, found.toSorted()])
  }
  await owner.sees(`${PAGE}?q=nothing`, 'No matching delayed jobs')
  await owner.send(`${PAGE}/${first}/cancel`)

  const many: string[] = []
  for (let n = 0; n < 49; n++) many.unshift(await delayed({ run_at: '2027-01-01T00:00:00Z' }))
  const newest = await owner.open(PAGE)
  const oldest = await owner.open(newest.next)
  expect([newest.rows, oldest.rows]).toEqual([[...many, second], [first]])
  expect(oldest.prev).toEndWith(PAGE)
  expect((await owner.open(`${PAGE}?cursor=abc`)).status).toBe(400)
})

test('A new job runs at the time that was typed, in UTC', async () => {
  const { id, owner, target } = await newTenant()
  const fields = { ...FORM, run_at: inAnHour().slice(0, 16), url: target.url }
  await owner.press(`${PAGE}/new`, 'Create delayed job', fields)
  const [job] = app.clockwork.delayed.list(id)
  const headers = { 'X-Token': 'abc' }
  expect(job).toMatchObject({ run_at: `${fields.run_at}:00.000Z`, headers, body: FORM.body })
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
  const typed = { ...FORM, url: target.url, run_at: inAnHour().slice(0, 16), [name]: value }
  const { status, wrong } = (await owner.send(`${PAGE}/new`, typed)).says('kept &lt;b>')
  expect([status, wrong]).toEqual([422, [name]])
  expect(app.clockwork.delayed.list(id)).toEqual([])
})

test('A failed job shows its attempts and the next one', async () => {
  const { owner, delayed, target } = await newTenant()
  const path = `${PAGE}/${await delayed()}`
  const gone = await delayed({ url: new URL('/gone', target.url).href })
  target.answers(({ path }) => new Response('down', { status: path === '/gone' ? 404 : 503 }))
  ;(await owner.open(path)).omits('every 2s')
  await app.clock.advance(HOUR - 1)
  await owner.sees(path, 'hx-trigger="every 2s"')
  await app.clock.advance(MINUTE)
  const page = await owner.sees(path, 'Failed; next attempt', 'Status 503', 'Next attempt')
  page.says('X-Clockwork-Attempt: 1')
  expect((await owner.open(`${path}?execution=${UNKNOWN_ID}`)).status).toBe(404)
  ;(await owner.sees(`${PAGE}/${gone}`, 'Status 404')).omits('Next attempt')
  await owner.send(`${path}/cancel`)
  await owner.sees(PAGE, 'None pending; 1 of 1 failed in the last 24 hours')
})

test('A pending job is cancelled once, by owners', async () => {
  const { owner, as, delayed } = await newTenant()
  const id = await delayed()
  const path = `${PAGE}/${id}`
  ;(await (await as('member')).open(path)).omits('Cancel job')
  ;(await owner.press(path, 'Cancel job')).says('Cancelled')
  expect(owner.audited('delayed_job.cancelled')).toEqual([`delayed_job:${id}`])
  const again = await owner.send(`${path}/cancel`)
  expect(again.says('Only a pending job can be cancelled').status).toBe(409)
})
