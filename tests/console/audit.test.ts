import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { AuditEntry } from '../../src/platform/audit/index.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newOperator, type Operator, type OperatorSession } from '../support/operator.ts'

const HOUR = 3_600_000
const KEY = '01900000-0000-7000-8000-00000000000a'

let app: TestApp
let acme: Awaited<ReturnType<TestApp['tenant']>>
let ada: Operator
let owner: OperatorSession

beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

/** A tenant with an owner and nothing in its log. */
beforeEach(async () => {
  acme = await app.tenant()
  ada = await newOperator(app, { roles: { [acme.id]: 'owner' } })
  owner = await ada.signIn()
  app.db.client.run('DELETE FROM audit_log')
})

const page = (path = '/console/audit', by: { headers: Record<string, string> } = owner) =>
  app.raw(path, { headers: { ...by.headers, accept: 'text/html' } })

/** As text: lines of JSON are none themselves. */
async function fileAt(query: string) {
  const path = `http://localhost/console/audit/export?${query}`
  const response = await app.app.handle(new Request(path, { headers: owner.headers }))
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const record = (...entries: Partial<AuditEntry>[]) =>
  app.db.commit(() => {
    for (const entry of entries)
      app.platform.audit.record({
        tenantId: acme.id,
        actor: { kind: 'key', id: KEY, source: '192.0.2.7' },
        action: 'job.created',
        object: 'job:1',
        ...entry,
      })
  })

const recordMany = (count: number, entry: Partial<AuditEntry> = {}) =>
  record(...Array.from({ length: count }, (_, n) => ({ object: `job:n${n}`, ...entry })))

/** The rows of the list, each as text. */
const rowsOf = ({ body }: { body: string }): string[] =>
  [...body.matchAll(/<tr id="row-\d+">(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row.replaceAll(/<details.*?<\/details>/gs, '').replaceAll(/<[^>]+>/g, ' '),
  )

const objectsIn = (answer: { body: string }): string[] =>
  rowsOf(answer).map((row) => /n\d+/.exec(row)?.[0] ?? '')

const hrefOf = ({ body }: { body: string }, rel: 'prev' | 'next'): string | undefined =>
  new RegExp(`rel="${rel}" href="([^"]*)"`).exec(body)?.[1]?.replaceAll('&amp;', '&')

const sentenceOf = ({ body }: { body: string }): string =>
  /<p class="sentence">(.*?)<\/p>/s
    .exec(body)?.[1]
    ?.replaceAll(/<[^>]+>/g, '')
    .trim() ?? ''

describe('who reads the log', () => {
  test('everybody in the tenant, nobody else', async () => {
    const person = async (role: 'member' | 'viewer') =>
      (await newOperator(app, { roles: { [acme.id]: role } })).signIn()
    const currentOperator = {
      owner,
      member: await person('member'),
      viewer: await person('viewer'),
      admin: await (await newOperator(app, { isAdmin: true })).signIn(),
      nobody: await (await newOperator(app)).signIn(),
      stranger: { headers: {} },
    }
    for (const path of ['/console/audit', '/console/audit/export?format=csv']) {
      const statuses: Record<string, number> = {}
      for (const [name, by] of Object.entries(currentOperator))
        statuses[name] = (await page(path, by)).status
      expect(statuses).toEqual({
        owner: 200,
        member: 200,
        viewer: 200,
        admin: 403,
        nobody: 403,
        stranger: 303,
      })
    }
  })

  test('nothing of another tenant, nor of the installation, whatever is asked for', async () => {
    await record({ tenantId: (await app.tenant('Other')).id, action: 'secret.theirs' })
    await record({ tenantId: null, action: 'secret.ours' }, { action: 'job.mine' })
    for (const path of ['', '?action=secret', `?actor=${KEY}`, '?object=job', '?after=0']) {
      const { body, status } = await page(`/console/audit${path}`)
      expect([status, body.includes('secret.theirs'), body.includes('secret.ours')]).toEqual([
        200,
        false,
        false,
      ])
    }
    const file = await fileAt('format=ndjson&tenant_id=x&tenantId=x')
    expect(file.text).toContain('job.mine')
    expect(file.text).not.toContain('secret.')
  })
})

describe('an entry', () => {
  test('says who did what to what, and from where', async () => {
    await record({ actor: { kind: 'operator', id: ada.id, source: '192.0.2.7' } })
    const answer = await page()
    expect(rowsOf(answer)[0]).toMatch(
      /job\.created.*job\s+1.*operator-\d+@example\.com.*192\.0\.2\.7/s,
    )
    expect(sentenceOf(answer)).toMatch(/^Latest event: job\.created by operator-\d+@example\.com/)
  })

  test('leads to what it is about, and to whoever did it', async () => {
    await record(
      { action: 'key.revoked', object: `key:${KEY}` },
      { action: 'identity.created', object: 'identity:i1' },
      { actor: { kind: 'person', id: 'p1' } },
      { actor: { kind: 'operator', id: ada.id } },
      { action: 'bot.enabled', object: 'passepartout:bot:b1' },
      { action: 'login_user.created', object: 'passepartout:user:a/b?c' },
      { action: 'tenant.changed', object: `tenant:${acme.id}` },
      { action: 'endpoint.updated', object: 'endpoint:e1' },
    )
    const { body } = await page()
    for (const href of [
      `/console/keys/${KEY}`,
      '/console/identities/i1',
      '/console/identities/p1',
      '/console/jobs/1',
      '/console/team',
      '/console/bots',
      '/console/logins/users/a%2Fb%3Fc',
      '/console/settings',
      '/console/endpoints/e1',
    ])
      expect(body).toContain(`href="${href}"`)
  })

  test('of a webhook leads to the webhooks, though the log calls it an endpoint', async () => {
    const { key } = await acme.key('gate')
    const made = await app
      .client(key)
      .post('/v1/gate/settings/webhooks', { url: 'http://127.0.0.1:9/hook' })
    expect(made.status).toBe(201)
    const href = `/console/webhooks/${made.body.id}`
    expect((await page()).body).toContain(`href="${href}"`)
  })

  test('leads nowhere that its reader may not go, nor to what is deleted', async () => {
    await record(
      { action: 'key.revoked', object: `key:${KEY}`, actor: { kind: 'cli' } },
      { action: 'job.deleted', object: 'job:gone', actor: { kind: 'system' } },
      { action: 'x.made', object: 'constructor:1', actor: { kind: 'cli' } },
    )
    const viewer = await (await newOperator(app, { roles: { [acme.id]: 'viewer' } })).signIn()
    const { body } = await page('/console/audit', viewer)
    expect(body).not.toContain(`href="/console/keys/${KEY}"`)
    expect(body).not.toContain('href="/console/jobs/gone"')
    expect(rowsOf({ body })).toHaveLength(3)
  })

  test('is there whole, folded, as it is exported', async () => {
    await record({ detail: { before: 'member', role: 'owner' } })
    const { body } = await page()
    expect(body).toContain('<summary>JSON</summary>')
    expect(body).toContain('&quot;before&quot;: &quot;member&quot;')
  })

  test('of hostile names stays text, whole and the right way round', async () => {
    const name = `<script>alert(1)</script>\u202e\u2028"'&${'x'.repeat(10_000)}`
    await record({
      action: `a${name}`,
      object: `subject:${name}`,
      actor: { kind: 'person', id: name, source: name },
      detail: { [name]: name },
    })
    const { status, body } = await page()
    expect(status).toBe(200)
    expect(body).not.toContain('<script>alert')
    expect(body).toContain('x'.repeat(10_000))
    expect(body).toContain('\\u202e')
    expect(body.replaceAll(/title="[^"]*"/gs, '').replaceAll(/href="[^"]*"/gs, '')).not.toContain(
      '\u202e',
    )
  })
})

describe('pages', () => {
  test('go from the newest to the oldest and back, with every entry once', async () => {
    await recordMany(120)
    const first = await page()
    expect([hrefOf(first, 'prev'), objectsIn(first).length]).toEqual([undefined, 50])
    const second = await page(hrefOf(first, 'next'))
    const third = await page(hrefOf(second, 'next'))
    expect(hrefOf(third, 'next')).toBeUndefined()
    expect([first, second, third].flatMap(objectsIn)).toEqual(
      Array.from({ length: 120 }, (_, n) => `n${119 - n}`),
    )
    const back = await page(hrefOf(third, 'prev'))
    expect(objectsIn(back)).toEqual(objectsIn(second))
    expect(objectsIn(await page(hrefOf(back, 'prev')))).toEqual(objectsIn(first))
  })

  test('stay where they are while more is written, and the way back finds it', async () => {
    await recordMany(60)
    const second = hrefOf(await page(), 'next')
    await record({ object: 'job:n999' })
    expect(objectsIn(await page(second))[0]).toBe('n9')
    const back = await page(hrefOf(await page(second), 'prev'))
    expect(objectsIn(await page(hrefOf(back, 'prev')))[0]).toBe('n999')
  })

  test('keep the filter', async () => {
    await recordMany(60, { action: 'job.changed' })
    const next = hrefOf(await page('/console/audit?action=job.&object=n'), 'next')
    expect(next).toMatch(/action=job\.&object=n&before=\d+/)
  })

  test('go on where a part of the log has nothing that is looked for', async () => {
    await record({ action: 'bot.rare' })
    await recordMany(5001)
    const first = await page('/console/audit?action=bot.')
    expect(rowsOf(first)).toEqual([])
    expect(first.body).toContain('Search older events')
    const [, href = ''] = /href="([^"]*before=\d+)"/.exec(first.body) ?? []
    const second = await page(href.replaceAll('&amp;', '&'))
    expect(rowsOf(second)).toHaveLength(1)
    expect((await page(hrefOf(second, 'prev'))).status).toBe(200)
  })

  test.each(['before=x', 'before=-1', 'after=1.5', 'after=9999999999999999'])(
    'begin at no place that is none: %s',
    async (query) => {
      const { status, body } = await page(`/console/audit?${query}`)
      expect([status, body.includes('ust be the number of an entry')]).toEqual([422, true])
    },
  )
})

describe('filters', () => {
  test.each([
    ['action=key.', ['n1', 'n0']],
    ['action=key.revoked', ['n1']],
    ['object=n2', ['n2']],
    ['actor=p1', ['n2']],
    ['action=key.&object=n0', ['n0']],
    ['action=&object=&actor=&since=&until=', ['n2', 'n1', 'n0']],
  ])('%s', async (query, expected) => {
    await record(
      { action: 'key.created', object: 'key:n0' },
      { action: 'key.revoked', object: 'key:n1' },
      { action: 'identity.created', object: 'identity:n2', actor: { kind: 'person', id: 'p1' } },
    )
    expect(objectsIn(await page(`/console/audit?${query}`))).toEqual(expected)
  })

  test('times are in UTC, with a zone or without; the later one is the first that is too late', async () => {
    app.clock.jump(HOUR - (app.clock.now() % HOUR))
    const start = app.clock.now()
    for (const n of [0, 1, 2]) {
      await record({ object: `job:n${n}` })
      app.clock.jump(HOUR)
    }
    const iso = (hours: number) => new Date(start + hours * HOUR).toISOString()
    const shown = async (since: string, until: string) =>
      objectsIn(await page(`/console/audit?${new URLSearchParams({ since, until })}`))
    expect(await shown(iso(1).slice(0, 16), iso(2).slice(0, 16))).toEqual(['n1'])
    expect(await shown(iso(1), '')).toEqual(['n2', 'n1'])
    expect(await shown(iso(0).slice(0, 10), iso(1).slice(0, 19))).toEqual(['n0'])
  })

  test.each([
    ['since=yesterday', 'since'],
    ['since=2026-02-30', 'since'],
    ['until=2026-03-01T25:00', 'until'],
    ['since=2026-03-02&until=2026-03-01', 'until'],
    ['since=%22%3E%3Cscript%3Ealert(1)%3C/script%3E', 'since'],
  ])('what is no time comes back beside its field: %s', async (query, field) => {
    await record()
    const answer = await page(`/console/audit?${query}`)
    expect([answer.status, rowsOf(answer)]).toEqual([422, []])
    expect(answer.body).toContain(`id="field-${field}-error"`)
    expect(answer.body).not.toContain('<script>alert')
  })

  test('an empty log says what will be in it', async () => {
    const { body } = await page()
    expect(body).toContain('No events yet')
    expect((await page('/console/audit?action=nope')).body).toContain('No matching events')
  })
})

describe('export', () => {
  test.each([
    ['csv', 'text/csv; charset=utf-8'],
    ['ndjson', 'application/x-ndjson; charset=utf-8'],
  ])('%s has a line for each entry', async (format, type) => {
    await record({ object: 'job:=1+1', detail: { text: 'a;"b"\n' } }, { action: 'key.revoked' })
    const { status, headers, text } = await fileAt(`format=${format}`)
    expect([status, headers.get('content-type')]).toEqual([200, type])
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="gatehouse-audit-.+\\.${format}"$`),
    )
    const lines = text.trimEnd().split(/\r?\n/)
    expect(lines).toHaveLength(format === 'csv' ? 3 : 2)
    if (format === 'csv') expect(lines[0]).toStartWith('at,tenant_id,actor_kind')
    else expect(JSON.parse(lines[0] ?? '').detail).toEqual({ text: 'a;"b"\n' })
  })

  test('is all that the filter lets through, oldest first, however much it is', async () => {
    await recordMany(1201)
    await record({ action: 'key.revoked' })
    const { text } = await fileAt('format=ndjson&action=job.')
    const objects = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).object)
    expect(objects).toEqual(Array.from({ length: 1201 }, (_, n) => `job:n${n}`))
  })

  test('of nothing is empty', async () => {
    expect((await fileAt('format=ndjson&action=no')).text).toBe('')
  })

  test.each(['', 'format=xml', 'format=csv&since=yesterday'])('%p is refused', async (query) => {
    expect((await page(`/console/audit/export?${query}`)).status).toBe(400)
  })

  test('keeps the filter that is on the page', async () => {
    const { body } = await page('/console/audit?action=key.&since=2026-03-01')
    expect(body).toContain(
      'href="/console/audit/export?action=key.&amp;since=2026-03-01&amp;format=csv&amp;_scope=',
    )
  })
})
