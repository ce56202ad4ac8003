import { expect, test } from 'bun:test'
import { MINUTE, useConsole } from '../fixture.ts'
import { listen, streamIn } from '../live-listener.ts'

const MONITORS = '/monitors'
const app = await useConsole()

async function withMonitors() {
  const acme = await app.newTenant()
  const { api, owner } = acme
  async function monitor(fields: object = {}) {
    const wanted = { name: 'backup', period_seconds: 60, grace_seconds: 60, ...fields }
    return (await api.post('/v1/clockwork/monitors', wanted)).body
  }
  const ping = (of: { ping_url: string }, rest = '', init: RequestInit = {}) =>
    app.raw(new URL(of.ping_url).pathname + rest, init)
  const stored = async (id: string) => (await api.get(`/v1/clockwork/monitors/${id}`)).body
  return { ...acme, owner, monitor, ping, stored }
}

test('The list has monitors that are down first, then late ones, and finds them by state, name and tag', async () => {
  const { owner, monitor, ping } = await withMonitors()
  await owner.sees(MONITORS, "/v1/clockwork/monitors'", '$GATEHOUSE_KEY')
  const fresh = await monitor({ name: 'fresh' })
  const up = await monitor({ name: 'up', period_seconds: 3600, tags: ['db', 'eu'] })
  const down = await monitor({ name: 'nightly', tags: ['db'] })
  const late = await monitor({ name: 'late', grace_seconds: 3600 })
  for (const one of [up, down, late]) await ping(one)
  await app.clock.advance(2 * MINUTE)
  const list = await owner.sees(MONITORS, 'Every minute')
  list.says('1 down, 1 late of 4 monitors')
  for (const [query, found] of [
    ['', [down, late, fresh, up]],
    ['sort=name', [fresh, late, down, up]],
    ['sort=-name', [up, down, late, fresh]],
    ['state=late', [late]],
    ['q=NIGHT', [down]],
    [`q=${up.id}`, [up]],
    ['tag=db', [down, up]],
    ['tag=db&state=up', [up]],
    ['tag=d', []],
  ] as const) {
    const { rows } = await owner.open(`${MONITORS}?${query}`)
    expect([query, rows]).toEqual([query, found.map(({ id }: { id: string }) => id)])
  }
  const overview = await owner.sees('', 'Needs attention')
  overview.says('nightly went down')
  const { text } = await owner.open('/find?q=nigh')
  expect(text).toContain('nightly')
})

const typed = (fields: object = {}) => ({
  ...{ name: 'Import', every: '3600', period: '', period_unit: '60', schedule: '' },
  ...{ grace: '5', grace_unit: '60', tags: 'a, b', notes: 'one\r\ntwo' },
  ...fields,
})

test.each([
  [{}, { period_seconds: 3600, schedule: null, grace_seconds: 300 }],
  [{ every: 'period', period: '3', period_unit: '86400' }, { period_seconds: 259_200 }],
  [
    { every: 'schedule', schedule: '5 * * * *', time_zone: 'Asia/Kolkata', period: '7' },
    { period_seconds: null, schedule: '5 * * * *', time_zone: 'Asia/Kolkata' },
  ],
])('A form with %j creates a monitor with %j, and shows it unchanged', async (fields, wanted) => {
  const { owner, stored } = await withMonitors()
  const { location } = await owner.send(`${MONITORS}/new`, typed(fields))
  const id = /monitors\/([\w-]+)/.exec(location ?? '')?.[1] ?? ''
  const monitor = await stored(id)
  expect(monitor).toMatchObject({ name: 'Import', tags: ['a', 'b'], notes: 'one\ntwo', ...wanted })
  const form = await owner.open(`${MONITORS}/${id}/edit`)
  expect(form.html).toContain('Import')
  await owner.send(`${MONITORS}/${id}/edit`, typed({ ...fields, name: 'Other' }))
  expect(await stored(id)).toMatchObject({ ...wanted, name: 'Other', state: 'new' })
})

test.each([
  [{ name: '' }, 'Name must have 1 to 255 characters'],
  [{ grace: '0' }, 'Grace time must be a whole number of minutes, hours or days'],
  [{ every: 'period', period: '1.5' }, 'Period must be a whole number of minutes'],
  [
    { every: 'period', period: '367', period_unit: '86400' },
    'Period must be between 1 minute and 366 days',
  ],
  [{ every: 'schedule', schedule: '* *' }, 'Schedule '],
  [{ tags: 'x'.repeat(51) }, 'Tags '],
])('A form with %j is shown again with its error', async (fields, message) => {
  const { owner, api } = await withMonitors()
  const { status, text } = await owner.send(`${MONITORS}/new`, typed(fields))
  expect(status).toBe(422)
  expect(text).toContain(message)
  expect((await api.get('/v1/clockwork/monitors')).body).toEqual([])
})

test('The form previews when pings are expected', async () => {
  const { owner } = await withMonitors()
  const { text } = await owner.send(`${MONITORS}/new`, typed({ intent: 'preview' }))
  expect(text).toContain('the monitor is down')
  const wrong = typed({ intent: 'preview', every: 'schedule', schedule: 'x' })
  expect((await owner.send(`${MONITORS}/new`, wrong)).text).not.toContain('the monitor is down')
})

test('The page of a monitor says how it is, and has its pings with their bodies', async () => {
  const { owner, monitor, ping, stored, as } = await withMonitors()
  const one = await monitor({ schedule: '0 3 * * *', period_seconds: null })
  const page = `${MONITORS}/${one.id}`
  await owner.sees(
    page,
    'Waiting for the first ping.',
    one.ping_url,
    `0 3 * * * /usr/local/bin/job`,
  )
  await ping(one, '/start?rid=r1')
  await owner.sees(page, 'A run started')
  await ping(one, '/1?rid=r1', { method: 'POST', body: '<b>disk is full</b>' })
  await owner.sees(page, 'Went down', 'failure (exit code 1)', '&lt;b>disk is full', 'r1')
  await owner.sees(`${page}?ping=1`, 'Without a body.')
  await owner.press(page, 'Pause monitor')
  await owner.sees(page, 'Paused now')
  await owner.press(page, 'Resume monitor')
  await owner.press(page, 'Rotate ping URL')
  const rotated = await stored(one.id)
  expect(rotated.ping_url).not.toBe(one.ping_url)
  const viewer = await as('viewer')
  const { html } = await viewer.open(page)
  expect(html).toContain('disk is full')
  expect(html).not.toContain('/ping/')
  await owner.press(page, 'Delete monitor')
  expect((await owner.open(page)).status).toBe(404)
})

test('The open page of a monitor shows pings and changes of state as they happen, until it is deleted', async () => {
  const { owner, monitor, ping, api } = await withMonitors()
  const one = await monitor()
  const page = await owner.open(`${MONITORS}/${one.id}`)
  const stream = await listen(app.url + streamIn(page.html), owner.headers)
  const shows = async (text: string, ms = 1000) => {
    await app.clock.advance(ms)
    await stream.until(() => stream.text().includes(text))
  }
  await ping(one, '', { method: 'POST', body: 'all is well' })
  await shows('all is well')
  expect(stream.text()).toContain('Up. Last ping')
  await shows('Went down', 3 * MINUTE)
  const other = await withMonitors()
  const theirs = await other.monitor()
  const { html } = await other.owner.open(`${MONITORS}/${theirs.id}`)
  const foreign = app.url + streamIn(html).replace(theirs.id, one.id)
  expect((await listen(foreign, other.owner.headers)).status).toBe(404)
  await api.delete(`/v1/clockwork/monitors/${one.id}`)
  await shows('it was deleted')
  await stream.end()
})
