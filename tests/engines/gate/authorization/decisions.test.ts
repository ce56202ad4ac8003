import { describe, expect, test } from 'bun:test'
import {
  AUTHORIZE,
  bootGate,
  bootParty,
  coded,
  count,
  DAY,
  IDENTITIES,
  type Json,
  MINUTE,
  SETTINGS,
  UNKNOWN_ID,
  type World,
} from '../fixture.ts'

const DECISIONS = `${AUTHORIZE}/decisions`

async function ask({ api }: Pick<World, 'api'>, question: Json = {}): Promise<Json> {
  const answer = await api.post(AUTHORIZE, {
    subject: 'svc-1',
    action: 'docs.read',
    resource: 'document:42',
    ...question,
  })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

async function read({ api }: Pick<World, 'api'>, path: string): Promise<Json> {
  const answer = await api.get(path)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const readDecision = (world: Pick<World, 'api'>, { decision_id: id }: Json): Promise<Json> =>
  read(world, `${DECISIONS}/${id}`)

const idsOf = ({ data }: Json): string[] => data.map(({ decision_id: id }: Json) => id)

async function sweepAfter({ clock, app }: World, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

describe('a decision can be read with all that it went by', () => {
  test('when the answer is yes', async () => {
    await using world = await bootGate()
    const { id } = await world.createIdentity({ metadata_public: { roles: ['admin'] } })
    const resource = `tenant:${world.acme.id}`
    const context = { amount: 5, tags: ['a'], deep: { x: true } }

    const answer = await ask(world, { subject: id, resource, context })

    expect(answer.allowed).toBe(true)
    expect(await readDecision(world, answer)).toEqual({
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
    await using world = await bootGate()
    const byNobody = await ask(world)
    const unknown = await ask(world, { subject: UNKNOWN_ID, resource: 'relay:key:x' })
    expect(await readDecision(world, byNobody)).toMatchObject({
      allowed: false,
      context: {},
      policies: [],
      reason: 'no policy permits this',
    })
    expect(await readDecision(world, unknown)).toMatchObject({
      allowed: false,
      subject: UNKNOWN_ID,
      resource: 'relay:key:x',
      policies: [],
      reason: 'the tenant has no such resource',
    })
  })

  test('and which key asked, in which environment', async () => {
    await using world = await bootGate()
    const { id, key } = await world.acme.key('gate', 'test')
    const answer = await ask({ api: world.app.client(key) })
    expect(await readDecision(world, answer)).toMatchObject({ environment: 'test', key_id: id })
  })

  test('and by which version of the policies', async () => {
    await using world = await bootGate()
    await world.api.put(`${SETTINGS}/policies`, {
      policies:
        '@id("a") permit (principal, action, resource); @id("b") permit (principal, action, resource);',
    })
    const allowed = await ask(world)
    await world.api.put(`${SETTINGS}/policies`, {
      policies:
        '@id("c") forbid (principal, action, resource); permit (principal, action, resource);',
    })
    const denied = await ask(world)

    expect(await readDecision(world, allowed)).toMatchObject({
      policies: ['a', 'b'],
      policies_version: 1,
    })
    expect(await readDecision(world, denied)).toMatchObject({
      policies: ['c'],
      policies_version: 2,
    })
  })

  test('also when the person is gone since', async () => {
    await using world = await bootGate()
    const { id } = await world.createIdentity()
    const answer = await ask(world, { subject: id })
    await world.api.delete(`${IDENTITIES}/${id}`)
    expect(await readDecision(world, answer)).toMatchObject({ subject: id, allowed: true })
  })

  test('by nobody else, and by none that has not the scope', async () => {
    await using world = await bootGate()
    const other = await bootParty(world.app)
    const { key } = await world.acme.key('gate', 'live', ['settings:read'])
    const { decision_id: id } = await ask(world)
    for (const wrong of [`${DECISIONS}/${UNKNOWN_ID}`, `${DECISIONS}/x`])
      expect(await world.api.get(wrong)).toMatchObject(
        coded(404, 'not_found', 'decision not found'),
      )
    expect(await other.api.get(`${DECISIONS}/${id}`)).toMatchObject(
      coded(404, 'not_found', 'decision not found'),
    )
    for (const path of [DECISIONS, `${DECISIONS}/${id}`])
      expect(await world.app.client(key).get(path)).toMatchObject(
        coded(403, 'forbidden', 'the key lacks the scope authorize'),
      )
  })
})

describe('the list of decisions', () => {
  test('has the newest first', async () => {
    await using world = await bootGate()
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.unshift((await ask(world)).decision_id)
    const listed = await read(world, DECISIONS)
    expect(listed).toMatchObject({ has_more: false, next_cursor: null })
    expect(idsOf(listed)).toEqual(ids)
    expect(listed.data[0]).toEqual(await readDecision(world, { decision_id: ids[0] }))
  })

  test('of one subject has no others', async () => {
    await using world = await bootGate()
    const mine: string[] = []
    for (let n = 0; n < 3; n++) {
      mine.unshift((await ask(world, { subject: 'svc 2' })).decision_id)
      await ask(world)
    }
    const first = await read(world, `${DECISIONS}?subject=svc%202&limit=2`)
    expect(idsOf(first)).toEqual(mine.slice(0, 2))
    const next = await read(world, `${DECISIONS}?subject=svc%202&cursor=${first.next_cursor}`)
    expect(idsOf(next)).toEqual(mine.slice(2))
    expect(idsOf(await read(world, `${DECISIONS}?subject=nobody`))).toEqual([])
  })

  test('is read page by page, and what comes meanwhile moves nothing', async () => {
    await using world = await bootGate()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await ask(world)).decision_id)

    const seen: string[] = []
    let cursor = ''
    do {
      const page = await read(world, `${DECISIONS}?limit=2${cursor}`)
      seen.push(...idsOf(page))
      expect(page.has_more).toBe(page.next_cursor !== null)
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : ''
      await ask(world)
    } while (cursor !== '')

    expect(seen).toEqual(ids)
  })

  test('has what was asked in either environment', async () => {
    await using world = await bootGate()
    const { key } = await world.acme.key('gate', 'test')
    const sandbox = { api: world.app.client(key) }
    const [one, two] = [await ask(world), await ask(sandbox)]
    for (const by of [world, sandbox])
      expect(idsOf(await read(by, DECISIONS))).toEqual([two.decision_id, one.decision_id])
  })

  test('is of one tenant, and so are its cursors', async () => {
    await using world = await bootGate()
    const other = await bootParty(world.app)
    for (let n = 0; n < 3; n++) await ask(world)
    const theirs = await ask(other)
    expect(idsOf(await read(other, DECISIONS))).toEqual([theirs.decision_id])
    const { next_cursor: cursor } = await read(world, `${DECISIONS}?limit=1`)
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
    await using world = await bootGate()
    expect(await world.api.get(`${DECISIONS}?${query}`)).toMatchObject(
      coded(400, 'invalid_request', field),
    )
  })
})

describe('a decision is kept', () => {
  test('for 30 days', async () => {
    await using world = await bootGate()
    const answer = await ask(world)
    await sweepAfter(world, 30 * DAY)
    expect(await readDecision(world, answer)).toMatchObject({ allowed: false })

    await sweepAfter(world, MINUTE)
    expect(await world.api.get(`${DECISIONS}/${answer.decision_id}`)).toMatchObject({ status: 404 })
    expect(count(world.app, 'gate_decisions')).toBe(0)
  })

  test('for as long as the settings say, and a younger one longer', async () => {
    await using world = await bootGate({ flags: { 'retention-decisions': '2d' } })
    await ask(world)
    world.clock.jump(DAY)
    const younger = await ask(world)

    await sweepAfter(world, DAY + MINUTE)

    expect(idsOf(await read(world, DECISIONS))).toEqual([younger.decision_id])
  })
})
