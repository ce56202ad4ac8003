import { expect, test } from 'bun:test'
import type { AuditEntry } from '../../src/platform/audit/index.ts'
import { addressOf } from '../support/address.ts'
import { HOUR, type Page, UNKNOWN_ID, useConsole } from './fixture.ts'

const PAGE = '/audit'

const app = await useConsole()

async function newTenant() {
  const acme = await app.newTenant()
  app.db.client.run('DELETE FROM audit_log')
  const record = (...entries: Partial<AuditEntry>[]) =>
    app.db.commit(() => {
      for (const entry of entries)
        app.platform.audit.record({
          tenantId: acme.id,
          actor: { kind: 'key', id: UNKNOWN_ID, source: '192.0.2.7' },
          action: 'job.created',
          object: 'job:1',
          ...entry,
        })
    })
  const recordMany = (count: number) =>
    record(...Array.from({ length: count }, (_, n) => ({ object: `job:n${n}` })))
  /** As text: a file with lines of JSON is no JSON. */
  const download = async (query: string) => {
    const { headers } = acme.owner
    const request = new Request(`http://localhost${addressOf(acme.id, '/audit/export')}?${query}`, {
      headers,
    })
    const response = await app.app.fetch(request)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const found = async (query: string) => objectsIn(await acme.owner.open(`${PAGE}?${query}`))
  return { ...acme, record, recordMany, download, found }
}

const rowsOf = ({ html }: Page) =>
  [...html.matchAll(/<tr id="row-\d+">(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row.replaceAll(/<details.*?<\/details>/gs, '').replaceAll(/<[^>]+>/g, ' '),
  )
const objectsIn = (page: Page) => rowsOf(page).map((row) => /n\d+/.exec(row)?.[0] ?? '')

test('The log has no events of other tenants or of the installation', async () => {
  const { owner, record, download } = await newTenant()
  const { id } = await app.tenant('Other')
  await record({ tenantId: id, action: 'secret.theirs' }, { tenantId: null, action: 'secret.ours' })
  await record({ action: 'job.mine' })
  for (const query of ['', '?action=secret', `?actor=${UNKNOWN_ID}`, '?object=job', '?sort=time'])
    expect((await owner.open(PAGE + query)).omits('secret.').status).toBe(200)
  const { text } = await download('format=ndjson&tenant_id=x&tenantId=x')
  expect([text.includes('job.mine'), text.includes('secret.')]).toEqual([true, false])
})

test('An event says who did what, and from where; hostile text is text', async () => {
  const { owner, record } = await newTenant()
  const actor = { kind: 'operator', id: owner.id, source: '192.0.2.7' } as const
  await record({ actor, detail: { before: 'member', role: 'owner' } })
  const page = await owner.sees(PAGE, '<summary>JSON</summary>', '"before": "member"')
  expect(rowsOf(page)[0]).toMatch(/job\.created.*job\s+1.*operator-\d+@example\.com.*192\.0\.2\.7/s)
  expect(page.text).toMatch(/Latest event: job\.created by operator-\d+@example\.com/)
  const name = `<script>alert(1)</script>\u202e${'x'.repeat(10_000)}`
  const by = { kind: 'person', id: name, source: name } as const
  await record({
    action: `a${name}`,
    object: `subject:${name}`,
    actor: by,
    detail: { [name]: name },
  })
  const { html } = (await owner.sees(PAGE, '\\u202e')).omits('<script>alert')
  expect(html.replaceAll(/(title|href)="[^"]*"/gs, '')).not.toContain('\u202e')
})

test('An event links to its object and actor, where the reader may open them', async () => {
  const { id: tenantId, owner, as, gate, record } = await newTenant()
  const url = 'http://127.0.0.1:9/hook'
  const webhook = (await gate.post('/v1/gate/settings/webhooks', { url })).body.id
  const key = `/keys/${UNKNOWN_ID}`
  const objects = {
    [`key:${UNKNOWN_ID}`]: key,
    'identity:i1': '/identities/i1',
    'passepartout:bot:b1': '/bots',
    'passepartout:user:a/b?c': '/logins/users/a%2Fb%3Fc',
    [`tenant:${tenantId}`]: '/settings',
    'endpoint:e1': '/endpoints/e1',
    [`operator:${owner.id}`]: '/team',
  }
  await record(
    ...Object.keys(objects).map((object) => ({ object })),
    { actor: { kind: 'person', id: 'p1' } },
    { action: 'job.deleted', object: 'job:gone', actor: { kind: 'system' } },
    { action: 'x.made', object: 'constructor:1', actor: { kind: 'cli' } },
  )
  const found = [...Object.values(objects), '/identities/p1', '/jobs/1', `/webhooks/${webhook}`]
  expect((await owner.open(PAGE)).links).toEqual(expect.arrayContaining(found))
  const seen = await (await as('viewer')).open(PAGE)
  expect(rowsOf(seen)).toHaveLength(11)
  expect(seen.links.filter((path) => path === key || path === '/jobs/gone')).toEqual([])
})

test('The list goes from the newest to the oldest and back, also while events are added', async () => {
  const { owner, recordMany, record } = await newTenant()
  await recordMany(120)
  const first = await owner.open(`${PAGE}?action=job.&object=n`)
  const second = await owner.open(first.next)
  await record({ object: 'job:n999' })
  const third = await owner.open(second.next)
  expect([first.prev, third.next]).toEqual(['', ''])
  expect([first, second, third].flatMap(objectsIn)).toEqual(
    Array.from({ length: 120 }, (_, n) => `n${119 - n}`),
  )
  const back = await owner.open(third.prev)
  const newer = await owner.open(back.prev)
  expect(objectsIn(back)).toEqual(objectsIn(second))
  expect(objectsIn(newer)).toEqual(['n999', ...objectsIn(first).slice(0, -1)])
  expect(first.next).toMatch(/action=job\.&object=n&cursor=/)
  const ascending = await owner.open(`${PAGE}?action=job.&object=n&sort=time`)
  const all = [ascending, await owner.open(ascending.next)].flatMap(objectsIn)
  expect(all).toEqual(Array.from({ length: 100 }, (_, n) => `n${n}`))
})

test('A large log is searched in parts', async () => {
  const { owner, record, recordMany } = await newTenant()
  await record({ action: 'bot.rare' })
  await recordMany(5001)
  await record({ action: 'key.rare' })
  for (const query of ['action=bot.', 'action=key.&sort=time']) {
    const first = await owner.sees(`${PAGE}?${query}`, 'Continue search')
    expect(rowsOf(first)).toEqual([])
    const second = await owner.open(first.links.find((path) => path.includes('cursor=')) ?? '')
    expect(rowsOf(second)).toHaveLength(1)
    expect((await owner.open(second.prev)).status).toBe(200)
  }
})

test('The list filters by action, object, actor and time, in UTC unless a zone is given', async () => {
  const { owner, record, found } = await newTenant()
  await record(
    { action: 'key.created', object: 'key:n0' },
    { action: 'key.revoked', object: 'key:n1' },
    { action: 'identity.created', object: 'identity:n2', actor: { kind: 'person', id: 'p1' } },
  )
  for (const [query, objects] of [
    ['action=key.', ['n1', 'n0']],
    ['action=key.revoked', ['n1']],
    ['object=n2', ['n2']],
    ['actor=p1', ['n2']],
    ['action=key.&object=n0', ['n0']],
    ['action=&object=&actor=&since=&until=', ['n2', 'n1', 'n0']],
  ] as const)
    expect([query, await found(query)]).toEqual([query, [...objects]])
  await owner.sees(`${PAGE}?action=nope`, 'No matching events')

  app.clock.jump(untilMidnight(app.clock.now()))
  const start = app.clock.now()
  for (const n of [5, 6, 7]) {
    await record({ object: `job:n${n}` })
    app.clock.jump(HOUR)
  }
  const iso = (hours: number) => new Date(start + hours * HOUR).toISOString()
  const shown = (since: string, until: string) => found(`${new URLSearchParams({ since, until })}`)
  expect(await shown(iso(1).slice(0, 16), iso(2).slice(0, 16))).toEqual(['n6'])
  expect(await shown(iso(1), '')).toEqual(['n7', 'n6'])
  expect(await shown(iso(0).slice(0, 10), iso(1).slice(0, 19))).toEqual(['n5'])
})

const untilMidnight = (now: number) => 24 * HOUR - (now % (24 * HOUR))

test('The list refuses times that are none', async () => {
  const { owner, record } = await newTenant()
  await record()
  for (const [query, wrong] of [
    ['since=2026-02-30', ['since']],
    ['until=2026-03-01T25:00', ['until']],
    ['since=2026-03-02&until=2026-03-01', ['until']],
    ['since=%22%3E%3Cscript%3Ealert(1)%3C/script%3E', ['since']],
  ] as const) {
    const page = (await owner.open(`${PAGE}?${query}`)).omits('<script>alert')
    expect([query, page.status, page.wrong]).toEqual([query, 422, [...wrong]])
    expect(rowsOf(page)).toEqual([])
  }
  expect((await owner.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
})

test('The export has everything that matches the filter of the page, in its order', async () => {
  const { owner, record, recordMany, download } = await newTenant()
  const detail = { text: 'a;"b"\n' }
  await recordMany(1201)
  await record({ action: 'key.revoked', object: 'job:=1+1', detail })
  for (const [format, type, count] of [
    ['csv', 'text/csv; charset=utf-8', 2],
    ['ndjson', 'application/x-ndjson; charset=utf-8', 1],
  ] as const) {
    const { status, headers, text } = await download(`format=${format}&action=key.`)
    expect([status, headers.get('content-type')]).toEqual([200, type])
    const disposition = new RegExp(`^attachment; filename="gatehouse-audit-.+\\.${format}"$`)
    expect(headers.get('content-disposition')).toMatch(disposition)
    const lines = text.trimEnd().split(/\r?\n/)
    expect(lines).toHaveLength(count)
    if (format === 'csv') expect(lines[0]).toStartWith('at,tenant_id,actor_kind')
    else expect(JSON.parse(lines[0] ?? '').detail).toEqual(detail)
  }
  const objects = async (query: string) => {
    const { text } = await download(`format=ndjson&action=job.${query}`)
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).object)
  }
  const oldestFirst = Array.from({ length: 1201 }, (_, n) => `job:n${n}`)
  expect(await objects('')).toEqual(oldestFirst.toReversed())
  expect(await objects('&sort=time')).toEqual(oldestFirst)
  expect((await download('format=ndjson&action=no')).text).toBe('')
  const { links } = await owner.open(`${PAGE}?action=key.&since=2026-03-01`)
  const path = `${PAGE}/export?action=key.&since=2026-03-01&format=csv`
  expect(links).toContain(path)
  for (const query of ['', 'format=xml', 'format=csv&since=yesterday'])
    expect((await owner.open(`${PAGE}/export?${query}`)).status).toBe(400)
})
