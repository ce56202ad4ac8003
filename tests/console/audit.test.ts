import { describe, expect, test } from 'bun:test'
import type { AuditEntry } from '../../src/platform/audit/index.ts'
import { HOUR, type Page, UNKNOWN_ID, useConsole } from './fixture.ts'

const PAGE = '/console/audit'

const app = await useConsole()

/** A tenant with an empty audit log. */
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
  const recordMany = (count: number, entry: Partial<AuditEntry> = {}) =>
    record(...Array.from({ length: count }, (_, n) => ({ object: `job:n${n}`, ...entry })))
  /** As text: a file with lines of JSON is no JSON. */
  const download = async (query: string) => {
    const path = `http://localhost${PAGE}/export?${query}`
    const { headers } = acme.owner
    const response = await app.app.handle(new Request(path, { headers }))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { ...acme, record, recordMany, download }
}

/** The rows of the list, without the details. */
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
  for (const query of ['', '?action=secret', `?actor=${UNKNOWN_ID}`, '?object=job', '?after=0']) {
    const { status, html } = await owner.open(PAGE + query)
    expect([status, html.includes('secret.')]).toEqual([200, false])
  }
  const { text } = await download('format=ndjson&tenant_id=x&tenantId=x')
  expect([text.includes('job.mine'), text.includes('secret.')]).toEqual([true, false])
})

describe('An event', () => {
  test('says who did what, and from where', async () => {
    const { owner, record } = await newTenant()
    const actor = { kind: 'operator', id: owner.id, source: '192.0.2.7' } as const
    await record({ actor, detail: { before: 'member', role: 'owner' } })
    const page = await owner.open(PAGE)
    expect(rowsOf(page)[0]).toMatch(
      /job\.created.*job\s+1.*operator-\d+@example\.com.*192\.0\.2\.7/s,
    )
    expect(page.text).toMatch(/Latest event: job\.created by operator-\d+@example\.com/)
    expect(page.html).toContain('<summary>JSON</summary>')
    expect(page.text).toContain('"before": "member"')
  })

  test('links to its object and actor, where the reader may open them', async () => {
    const { id: tenantId, owner, as, gate, record } = await newTenant()
    const url = 'http://127.0.0.1:9/hook'
    const webhook = (await gate.post('/v1/gate/settings/webhooks', { url })).body.id
    await record(
      { action: 'key.revoked', object: `key:${UNKNOWN_ID}` },
      { action: 'identity.created', object: 'identity:i1' },
      { actor: { kind: 'person', id: 'p1' } },
      { actor: { kind: 'operator', id: owner.id } },
      { action: 'bot.enabled', object: 'passepartout:bot:b1' },
      { action: 'login_user.created', object: 'passepartout:user:a/b?c' },
      { action: 'tenant.changed', object: `tenant:${tenantId}` },
      { action: 'endpoint.updated', object: 'endpoint:e1' },
      { action: 'job.deleted', object: 'job:gone', actor: { kind: 'system' } },
      { action: 'x.made', object: 'constructor:1', actor: { kind: 'cli' } },
    )
    const { html } = await owner.open(PAGE)
    for (const path of [
      `keys/${UNKNOWN_ID}`,
      'identities/i1',
      'identities/p1',
      'jobs/1',
      'team',
      'bots',
      'logins/users/a%2Fb%3Fc',
      'settings',
      'endpoints/e1',
      `webhooks/${webhook}`,
    ])
      expect(html).toContain(`href="/console/${path}"`)
    const seen = await (await as('viewer')).open(PAGE)
    expect(rowsOf(seen)).toHaveLength(11)
    for (const path of [`keys/${UNKNOWN_ID}`, 'jobs/gone'])
      expect(seen.html).not.toContain(`href="/console/${path}"`)
  })

  test('shows hostile text as text', async () => {
    const { owner, record } = await newTenant()
    const name = `<script>alert(1)</script>\u202e\u2028"'&${'x'.repeat(10_000)}`
    const actor = { kind: 'person', id: name, source: name } as const
    await record({ action: `a${name}`, object: `subject:${name}`, actor, detail: { [name]: name } })
    const { html } = await owner.open(PAGE)
    expect(html).not.toContain('<script>alert')
    for (const part of ['x'.repeat(10_000), '\\u202e']) expect(html).toContain(part)
    expect(html.replaceAll(/(title|href)="[^"]*"/gs, '')).not.toContain('\u202e')
  })
})

describe('The list', () => {
  test('goes from the newest to the oldest and back, also while events are added', async () => {
    const { owner, recordMany, record } = await newTenant()
    const empty = await owner.open(PAGE)
    expect(empty.text).toContain('No events yet')
    await recordMany(120)
    const first = await owner.open(PAGE)
    const second = await owner.open(first.next)
    await record({ object: 'job:n999' })
    const third = await owner.open(second.next)
    expect([first.prev, third.next]).toEqual(['', ''])
    expect([first, second, third].flatMap(objectsIn)).toEqual(
      Array.from({ length: 120 }, (_, n) => `n${119 - n}`),
    )
    const back = await owner.open(third.prev)
    expect(objectsIn(back)).toEqual(objectsIn(second))
    const newer = await owner.open(back.prev)
    expect(objectsIn(newer)).toEqual(objectsIn(first))
    expect(objectsIn(await owner.open(newer.prev))[0]).toBe('n999')
    const filtered = await owner.open(`${PAGE}?action=job.&object=n`)
    expect(filtered.next).toMatch(/action=job\.&object=n&before=\d+/)
  })

  test('searches a large log in parts', async () => {
    const { owner, record, recordMany } = await newTenant()
    await record({ action: 'bot.rare' })
    await recordMany(5001)
    const first = await owner.open(`${PAGE}?action=bot.`)
    expect([rowsOf(first), first.text]).toEqual([
      [],
      expect.stringContaining('Search older events'),
    ])
    const [, href = ''] = /href="([^"]*before=\d+)"/.exec(first.html) ?? []
    const second = await owner.open(href.replaceAll('&amp;', '&'))
    expect(rowsOf(second)).toHaveLength(1)
    expect((await owner.open(second.prev)).status).toBe(200)
  })

  test('filters by action, object and actor', async () => {
    const { owner, record } = await newTenant()
    await record(
      { action: 'key.created', object: 'key:n0' },
      { action: 'key.revoked', object: 'key:n1' },
      { action: 'identity.created', object: 'identity:n2', actor: { kind: 'person', id: 'p1' } },
    )
    for (const [query, found] of [
      ['action=key.', ['n1', 'n0']],
      ['action=key.revoked', ['n1']],
      ['object=n2', ['n2']],
      ['actor=p1', ['n2']],
      ['action=key.&object=n0', ['n0']],
      ['action=&object=&actor=&since=&until=', ['n2', 'n1', 'n0']],
    ])
      expect([query, objectsIn(await owner.open(`${PAGE}?${query}`))]).toEqual([query, found])
    expect((await owner.open(`${PAGE}?action=nope`)).text).toContain('No matching events')
  })

  test('filters by time, in UTC unless a zone is given; the end is exclusive', async () => {
    const { owner, record } = await newTenant()
    app.clock.jump(HOUR - (app.clock.now() % HOUR))
    const start = app.clock.now()
    for (const n of [0, 1, 2]) {
      await record({ object: `job:n${n}` })
      app.clock.jump(HOUR)
    }
    const iso = (hours: number) => new Date(start + hours * HOUR).toISOString()
    const shown = async (since: string, until: string) =>
      objectsIn(await owner.open(`${PAGE}?${new URLSearchParams({ since, until })}`))
    expect(await shown(iso(1).slice(0, 16), iso(2).slice(0, 16))).toEqual(['n1'])
    expect(await shown(iso(1), '')).toEqual(['n2', 'n1'])
    expect(await shown(iso(0).slice(0, 10), iso(1).slice(0, 19))).toEqual(['n0'])
  })

  test.each([
    ['before=x', []],
    ['before=-1', []],
    ['after=1.5', []],
    ['after=9999999999999999', []],
    ['since=yesterday', ['since']],
    ['since=2026-02-30', ['since']],
    ['until=2026-03-01T25:00', ['until']],
    ['since=2026-03-02&until=2026-03-01', ['until']],
    ['since=%22%3E%3Cscript%3Ealert(1)%3C/script%3E', ['since']],
  ])('refuses %s', async (query, fields) => {
    const { owner, record } = await newTenant()
    await record()
    const page = await owner.open(`${PAGE}?${query}`)
    expect([page.status, page.wrong]).toEqual([422, fields])
    if (fields.length > 0) expect(rowsOf(page)).toEqual([])
    expect(page.html).not.toContain('<script>alert')
  })
})

describe('The export', () => {
  test.each([
    ['csv', 'text/csv; charset=utf-8', 3],
    ['ndjson', 'application/x-ndjson; charset=utf-8', 2],
  ])('as %s has a line for each event', async (format, type, count) => {
    const { record, download } = await newTenant()
    const detail = { text: 'a;"b"\n' }
    await record({ object: 'job:=1+1', detail }, { action: 'key.revoked' })
    const { status, headers, text } = await download(`format=${format}`)
    expect([status, headers.get('content-type')]).toEqual([200, type])
    const disposition = new RegExp(`^attachment; filename="gatehouse-audit-.+\\.${format}"$`)
    expect(headers.get('content-disposition')).toMatch(disposition)
    const lines = text.trimEnd().split(/\r?\n/)
    expect(lines).toHaveLength(count)
    if (format === 'csv') expect(lines[0]).toStartWith('at,tenant_id,actor_kind')
    else expect(JSON.parse(lines[0] ?? '').detail).toEqual(detail)
  })

  test('has everything that matches the filter of the page, oldest first', async () => {
    const { owner, record, recordMany, download } = await newTenant()
    await recordMany(1201)
    await record({ action: 'key.revoked' })
    const { text } = await download('format=ndjson&action=job.')
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).object)).toEqual(
      Array.from({ length: 1201 }, (_, n) => `job:n${n}`),
    )
    expect((await download('format=ndjson&action=no')).text).toBe('')
    const { html } = await owner.open(`${PAGE}?action=key.&since=2026-03-01`)
    expect(html).toContain(
      `href="${PAGE}/export?action=key.&amp;since=2026-03-01&amp;format=csv&amp;_scope=`,
    )
    for (const query of ['', 'format=xml', 'format=csv&since=yesterday'])
      expect((await owner.open(`${PAGE}/export?${query}`)).status).toBe(400)
  })
})
