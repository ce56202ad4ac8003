import { describe, expect, test } from 'bun:test'
import {
  AUTHORIZE,
  bootGate,
  bootParty,
  coded,
  count,
  DAY,
  type Fixture,
  IDENTITIES,
  type Json,
  MINUTE,
  SETTINGS,
  UNKNOWN_ID,
} from '../fixture.ts'

const DECISIONS = `${AUTHORIZE}/decisions`

async function ask({ api }: Pick<Fixture, 'api'>, question: Json = {}): Promise<Json> {
  const answer = await api.post(AUTHORIZE, {
    subject: 'svc-1',
    action: 'docs.read',
    resource: 'document:42',
    ...question,
  })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

async function read({ api }: Pick<Fixture, 'api'>, path: string): Promise<Json> {
  const answer = await api.get(path)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const readDecision = (fixture: Pick<Fixture, 'api'>, { decision_id: id }: Json): Promise<Json> =>
  read(fixture, `${DECISIONS}/${id}`)

const idsOf = ({ data }: Json): string[] => data.map(({ decision_id: id }: Json) => id)

async function sweepAfter({ clock, app }: Fixture, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

describe('a decision can be read with all that it went by', () => {
  test('when the answer is yes', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity({ metadata_public: { roles: ['admin'] } })
    const resource = `tenant:${fixture.acme.id}`
    const context = { amount: 5, tags: ['a'], deep: { x: true } }

    const answer = await ask(fixture, { subject: id, resource, context })

    expect(answer.allowed).toBe(true)
    expect(await readDecision(fixture, answer)).toEqual({
      decision_id: answer.decision_id,
      at: '2026-03-01T12:00:30.000Z',
      environment: 'live',
      key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subject: id,
      action: 'docs.read',
      resource,
      context,
      allowed: true,
      reason: answer.reason,
      policies: ['own-tenant-reads', 'tenant-admins'],
      policies_version: 0,
    })
  })

  test('when it is no, whatever for', async () => {
    await using fixture = await bootGate()
    const byNobody = await ask(fixture)
    const unknown = await ask(fixture, { subject: UNKNOWN_ID, resource: 'relay:key:x' })
    expect(await readDecision(fixture, byNobody)).toMatchObject({
      allowed: false,
      context: {},
      policies: [],
      reason: 'no policy permits this',
    })
    expect(await readDecision(fixture, unknown)).toMatchObject({
      allowed: false,
      subject: UNKNOWN_ID,
      resource: 'relay:key:x',
      policies: [],
      reason: 'the tenant has no such resource',
    })
  })

  test('and which key asked, in which environment', async () => {
    await using fixture = await bootGate()
    const { id, key } = await fixture.acme.key('gate', 'test')
    const answer = await ask({ api: fixture.app.client(key) })
    expect(await readDecision(fixture, answer)).toMatchObject({ environment: 'test', key_id: id })
  })

  test('and by which version of the policies', async () => {
    await using fixture = await bootGate()
    await fixture.api.put(`${SETTINGS}/policies`, {
      policies:
        '@id("a") permit (principal, action, resource); @id("b") permit (principal, action, resource);',
    })
    const allowed = await ask(fixture)
    await fixture.api.put(`${SETTINGS}/policies`, {
      policies:
        '@id("c") forbid (principal, action, resource); permit (principal, action, resource);',
    })
    const denied = await ask(fixture)

    expect(await readDecision(fixture, allowed)).toMatchObject({
      policies: ['a', 'b'],
      policies_version: 1,
    })
    expect(await readDecision(fixture, denied)).toMatchObject({
      policies: ['c'],
      policies_version: 2,
    })
  })

  test('also when the person is gone since', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    const answer = await ask(fixture, { subject: id })
    await fixture.api.delete(`${IDENTITIES}/${id}`)
    expect(await readDecision(fixture, answer)).toMatchObject({ subject: id, allowed: true })
  })

  test('by nobody else, and by none that has not the scope', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    const { key } = await fixture.acme.key('gate', 'live', ['settings:read'])
    const { decision_id: id } = await ask(fixture)
    for (const wrong of [`${DECISIONS}/${UNKNOWN_ID}`, `${DECISIONS}/x`])
      expect(await fixture.api.get(wrong)).toMatchObject(
        coded(404, 'not_found', 'decision not found'),
      )
    expect(await other.api.get(`${DECISIONS}/${id}`)).toMatchObject(
      coded(404, 'not_found', 'decision not found'),
    )
    for (const path of [DECISIONS, `${DECISIONS}/${id}`])
      expect(await fixture.app.client(key).get(path)).toMatchObject(
        coded(403, 'forbidden', 'the key lacks the scope authorize'),
      )
  })
})

describe('the list of decisions', () => {
  test('has the newest first', async () => {
    await using fixture = await bootGate()
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.unshift((await ask(fixture)).decision_id)
    const listed = await read(fixture, DECISIONS)
    expect(listed).toMatchObject({ has_more: false, next_cursor: null })
    expect(idsOf(listed)).toEqual(ids)
    expect(listed.data[0]).toEqual(await readDecision(fixture, { decision_id: ids[0] }))
  })

  test('of one subject has no others', async () => {
    await using fixture = await bootGate()
    const mine: string[] = []
    for (let n = 0; n < 3; n++) {
      mine.unshift((await ask(fixture, { subject: 'svc 2' })).decision_id)
      await ask(fixture)
    }
    const first = await read(fixture, `${DECISIONS}?subject=svc%202&limit=2`)
    expect(idsOf(first)).toEqual(mine.slice(0, 2))
    const next = await read(fixture, `${DECISIONS}?subject=svc%202&cursor=${first.next_cursor}`)
    expect(idsOf(next)).toEqual(mine.slice(2))
    expect(idsOf(await read(fixture, `${DECISIONS}?subject=nobody`))).toEqual([])
  })

  test('is read page by page, and what comes meanwhile moves nothing', async () => {
    await using fixture = await bootGate()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await ask(fixture)).decision_id)

    const seen: string[] = []
    let cursor = ''
    do {
      const page = await read(fixture, `${DECISIONS}?limit=2${cursor}`)
      seen.push(...idsOf(page))
      expect(page.has_more).toBe(page.next_cursor !== null)
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : ''
      await ask(fixture)
    } while (cursor !== '')

    expect(seen).toEqual(ids)
  })

  test('has what was asked in either environment', async () => {
    await using fixture = await bootGate()
    const { key } = await fixture.acme.key('gate', 'test')
    const sandbox = { api: fixture.app.client(key) }
    const [one, two] = [await ask(fixture), await ask(sandbox)]
    for (const by of [fixture, sandbox])
      expect(idsOf(await read(by, DECISIONS))).toEqual([two.decision_id, one.decision_id])
  })

  test('is of one tenant, and so are its cursors', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    for (let n = 0; n < 3; n++) await ask(fixture)
    const theirs = await ask(other)
    expect(idsOf(await read(other, DECISIONS))).toEqual([theirs.decision_id])
    const { next_cursor: cursor } = await read(fixture, `${DECISIONS}?limit=1`)
    expect(await other.api.get(`${DECISIONS}?cursor=${cursor}`)).toMatchObject(
      coded(400, 'invalid_request', 'cursor'),
    )
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['limit=-1', 'limit'],
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
  ])('refuses ?%s', async (query, field) => {
    await using fixture = await bootGate()
    expect(await fixture.api.get(`${DECISIONS}?${query}`)).toMatchObject(
      coded(400, 'invalid_request', field),
    )
  })
})

describe('a decision is kept', () => {
  test('for 30 days', async () => {
    await using fixture = await bootGate()
    const answer = await ask(fixture)
    await sweepAfter(fixture, 30 * DAY)
    expect(await readDecision(fixture, answer)).toMatchObject({ allowed: false })

    await sweepAfter(fixture, MINUTE)
    expect(await fixture.api.get(`${DECISIONS}/${answer.decision_id}`)).toMatchObject({
      status: 404,
    })
    expect(count(fixture.app, 'gate_decisions')).toBe(0)
  })

  test('for as long as the settings say, and a younger one longer', async () => {
    await using fixture = await bootGate({ flags: { 'retention-decisions': '2d' } })
    await ask(fixture)
    fixture.clock.jump(DAY)
    const younger = await ask(fixture)

    await sweepAfter(fixture, DAY + MINUTE)

    expect(idsOf(await read(fixture, DECISIONS))).toEqual([younger.decision_id])
  })
})
