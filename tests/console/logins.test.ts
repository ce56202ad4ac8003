import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { newId } from '../../src/platform/ids.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'
import { audited } from './console-fixture.ts'

const MINUTE = 60_000
const NOBODYS = '01900000-0000-7000-8000-000000000000'
const HOSTILE = `<script>alert(1)</script>\u202e${'x'.repeat(10_000)}`

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

/** Somebody at the pages of logins, looking at test data unless told otherwise. */
async function operator(
  roles: Record<string, Role>,
  { environment = 'test', isAdmin = false } = {},
) {
  const person = await newOperator(app, { roles, isAdmin })
  const { cookie, actIn } = await person.signIn()
  const headers = { cookie: `${cookie}; gatehouse_environment=${environment}`, accept: 'text/html' }
  return {
    id: person.id,
    actIn,
    see: (path = '') => app.raw(`/console/logins${path}`, { headers }),
    send: (path: string, fields: Record<string, string> = {}) =>
      app.raw(`/console/logins${path}`, {
        method: 'POST',
        headers,
        body: formBody(app, headers, fields),
      }),
    try: async () => {
      const answer = await app.raw('/console/bots/test/try', {
        method: 'POST',
        headers,
        body: formBody(app, headers),
      })
      return (answer.headers.get('location') ?? '').replace('/console/logins', '')
    },
  }
}

/** A tenant with a bot in the sandbox, and its owner. */
async function tenant() {
  const { id: tenantId } = await app.tenant()
  const owner = await operator({ [tenantId]: 'owner' })
  const actor = { kind: 'cli' } as const
  await app.passepartout.bots.enable(actor, { tenantId, environment: 'test' })
  return { tenantId, owner }
}

const payloadOf = (place: string): string =>
  new URLSearchParams(place.split('?')[1]).get('link') ?? ''
const idOf = (place: string): string => place.slice(1).split('?')[0] ?? ''

/** What somebody taps at the page of the test bot. */
const answer = (place: string, choice: string, person = 'ada') =>
  app.raw(`/sandbox/passepartout/${payloadOf(place)}`, {
    method: 'POST',
    body: new URLSearchParams({ choice, person }),
  })

const recordOf = (tenantId: string, place: string) =>
  app.passepartout.records.get(tenantId, idOf(place))

/** The number that the app shows. */
const numberOf = (tenantId: string, place: string): string =>
  recordOf(tenantId, place).match_code ?? ''

/** A sign-in that went well. */
async function approved({ tenantId, owner }: Awaited<ReturnType<typeof tenant>>) {
  const place = await owner.try()
  await answer(place, numberOf(tenantId, place))
  return { place, userId: recordOf(tenantId, place).user_id ?? '' }
}

/** What stands in the first column of the list. */
const rowsOf = ({ body }: { body: string }) =>
  [...body.matchAll(/<tr id="row-([\w-]+)"/g)].map(([, id]) => id)

describe('who may do what', () => {
  test('everybody in the tenant looks, and owners delete', async () => {
    const of = await tenant()
    const { place, userId } = await approved(of)
    for (const role of ['viewer', 'member', 'owner'] as const) {
      const { see, send } = await operator({ [of.tenantId]: role })
      for (const path of ['', '/users', `/${idOf(place)}`, `/users/${userId}`])
        expect([role, path, (await see(path)).status]).toEqual([role, path, 200])
      const { status } = await send(`/users/${userId}/delete`)
      expect([role, status]).toEqual([role, role === 'owner' ? 303 : 403])
    }
  })

  test('neither strangers, nor another tenant, nor whoever acts for the installation', async () => {
    const of = await tenant()
    const { place, userId } = await approved(of)
    const { owner: other } = await tenant()
    const admin = await operator({}, { isAdmin: true })
    await admin.actIn(null)
    for (const path of ['', '/users', `/${idOf(place)}`, `/users/${userId}`]) {
      expect((await admin.see(path)).status).toBe(403)
      const headers = { accept: 'text/html' }
      expect((await app.raw(`/console/logins${path}`, { headers })).status).toBe(303)
    }
    for (const path of [place, `/users/${userId}`, `/${NOBODYS}`, `/users/${NOBODYS}`])
      expect((await other.see(path)).status).toBe(404)
    expect((await other.send(`/users/${userId}/delete`)).status).toBe(404)
    expect(rowsOf(await other.see())).toEqual([])
    expect(rowsOf(await other.see('/users'))).toEqual([])
    expect(rowsOf(await other.see(`/users?q=${userId}`))).toEqual([])
  })
})

describe('the list', () => {
  test('is of one environment, newest first, by state, page by page', async () => {
    const of = await tenant()
    expect((await of.owner.see()).body).toContain('No test sign-ins yet')
    const { place } = await approved(of)
    const waiting: string[] = []
    for (let n = 0; n < 51; n++) waiting.unshift(idOf(await of.owner.try()))

    const first = await of.owner.see()
    expect(rowsOf(first)).toEqual(waiting.slice(0, 50))
    const [, older = ''] = /href="\/console\/logins(\?[^"]*cursor=[^"]+)"/.exec(first.body) ?? []
    const second = await of.owner.see(older.replaceAll('&amp;', '&'))
    expect(rowsOf(second)).toEqual([...waiting.slice(50), idOf(place)])
    expect(rowsOf(await of.owner.see('?state=approved'))).toEqual([idOf(place)])
    expect((await of.owner.see('?state=denied')).body).toContain('No sign-ins with status')
    expect((await of.owner.see('?cursor=made-up')).status).toBe(400)
    const live = await operator({ [of.tenantId]: 'viewer' }, { environment: 'live' })
    expect(rowsOf(await live.see())).toEqual([])
  })
})

describe('a sign-in', () => {
  test('is followed while it waits, with link and code for whoever started it', async () => {
    const of = await tenant()
    const place = await of.owner.try()
    const page = await of.owner.see(place)
    expect(page.body).toContain('hx-trigger="every 2s"')
    expect(page.body).toContain('data:image/png;base64,')
    expect(page.body).toContain(`/sandbox/passepartout/${payloadOf(place)}`)
    expect(page.body).toContain(`<strong>${numberOf(of.tenantId, place)}</strong>`)
    expect(page.body).toContain('Refresh')

    for (const link of ['', '?link=x', `?link=${payloadOf(await of.owner.try())}`]) {
      const { body } = await of.owner.see(`/${idOf(place)}${link}`)
      expect(body).not.toContain('data:image/png')
      expect(body).toContain('Waiting for the link to be opened')
    }
  })

  test('that was approved says by whom, and asks no further', async () => {
    const of = await tenant()
    const place = await of.owner.try()
    await answer(place, 'start')
    expect((await of.owner.see(place)).body).toContain('Opened, waiting for approval')
    await answer(place, numberOf(of.tenantId, place))

    const { body } = await of.owner.see(place)
    expect(body).toMatch(/Approved by <a href="\/console\/logins\/users\/[\w-]+">/)
    expect(body).toContain('Ada Lovelace')
    expect(body).not.toContain('every 2s')
    expect(body).not.toContain('data:image/png')
  })

  test.each([
    ['deny', 'Denied by the user'],
    ['10', 'the user selected the wrong number'],
  ])('that ended by %s says why', async (choice, why) => {
    const of = await tenant()
    const place = await of.owner.try()
    const wrong = choice === '10' && numberOf(of.tenantId, place) === '10' ? '11' : choice
    await answer(place, wrong)
    expect((await of.owner.see(place)).body).toContain(why)
  })

  test('that nobody answered in time has expired', async () => {
    const of = await tenant()
    const [unopened, opened] = [await of.owner.try(), await of.owner.try()]
    await answer(opened, 'start')
    app.clock.jump(5 * MINUTE)
    const { body } = await of.owner.see(unopened)
    expect(body).toContain('Expired before the link was opened')
    expect(body).not.toContain('every 2s')
    expect((await of.owner.see(opened)).body).toContain('Expired: opened, but not answered')
    expect((await of.owner.see()).body).toContain('2 expired')
  })
})

describe('a user', () => {
  test('is found by id, account and username', async () => {
    const of = await tenant()
    expect((await of.owner.see('/users')).body).toContain('No users yet')
    const { userId } = await approved(of)
    for (const query of ['', '?q=', `?q=${userId}`, '?q=ada', '?q=@ada_sandbox', '?q=ada_sandbox'])
      expect([query, rowsOf(await of.owner.see(`/users${query}`))]).toEqual([query, [userId]])
    const nobody = await of.owner.see(`/users?${new URLSearchParams({ q: HOSTILE })}`)
    expect(nobody.body).toContain('No matching users')
    expect(nobody.body).not.toContain('<script>alert')
  })

  test('is deleted by the operator, and then unknown', async () => {
    const of = await tenant()
    const { place, userId } = await approved(of)
    const answer = await of.owner.send(`/users/${userId}/delete`)
    expect(answer.headers.get('location')).toBe('/console/logins/users?done=deleted')
    const deeds = audited(app, 'login_user.deleted').filter(
      ({ tenant_id: tenantId }) => tenantId === of.tenantId,
    )
    expect(deeds).toMatchObject([
      { actor_kind: 'operator', actor_id: of.owner.id, object: `passepartout:user:${userId}` },
    ])
    expect((await of.owner.see(`/users/${userId}`)).status).toBe(404)
    expect((await of.owner.send(`/users/${userId}/delete`)).status).toBe(404)
    expect((await of.owner.see(place)).body).toContain('Approved by a user who has been deleted')
  })

  test('is shown whole, whatever they call themselves', async () => {
    const of = await tenant()
    const { place, userId } = await approved(of)
    app.db.client
      .query(
        'UPDATE passepartout_people SET first_name = ?, last_name = ?, username = ? WHERE id = ?',
      )
      .run(HOSTILE, HOSTILE, HOSTILE, userId)
    app.db.client
      .query('UPDATE passepartout_attempts SET client_label = ?, client_ip = ? WHERE id = ?')
      .run(HOSTILE, HOSTILE, idOf(place))
    for (const path of ['', '/users', `/users/${userId}`, place]) {
      const { status, body } = await of.owner.see(path)
      expect([path, status]).toEqual([path, 200])
      expect(body).toContain('&lt;script')
      expect(body).not.toContain('<script>alert')
      expect(body).toEndWith('</html>')
    }
  })
})

/** Made up, so that nothing else is by it. */
test('an id is no way past the tenant', async () => {
  const { owner } = await tenant()
  for (const id of [newId(), '../keys', '%00', '<script>'])
    expect((await owner.see(`/${encodeURIComponent(id)}`)).status).toBe(404)
})

describe('the picture of a day', () => {
  test('counts what came of sign-ins, hour by hour', async () => {
    const of = await tenant()
    await approved(of)
    const denied = await of.owner.try()
    await answer(denied, 'deny')
    await of.owner.try()
    const tally = () => {
      const { hours, isCut } = app.passepartout.records.lastDay({
        tenantId: of.tenantId,
        environment: 'test',
      })
      return { latest: hours.at(-1), all: hours.length, isCut }
    }
    expect(tally()).toEqual({
      latest: { approved: 1, refused: 1, expired: 0, waiting: 1 },
      all: 24,
      isCut: false,
    })
    const { body } = await of.owner.see()
    expect(body).toContain('3 sign-ins in the last 24 hours: 1 approved, 1 denied, 0 expired')
    expect(body).toContain('Approved, 24 h, by hour: 1 in total')

    app.clock.jump(6 * MINUTE)
    expect(tally().latest ?? {}).toMatchObject({ expired: 1, waiting: 0 })
    app.clock.jump(-6 * MINUTE)
  })

  test('is of the data that is looked at, and of one tenant', async () => {
    await approved(await tenant())
    const of = await tenant()
    expect((await of.owner.see()).body).toContain('No sign-ins yet')
    const { hours } = app.passepartout.records.lastDay({ ...of, environment: 'live' })
    expect(hours.every(({ approved }) => approved === 0)).toBe(true)
  })
})

test('the page of a user leads to the sign-ins that they took part in', async () => {
  const of = await tenant()
  const { place, userId } = await approved(of)
  const again = await approved(of)
  const untouched = await of.owner.try()
  const { body } = await of.owner.see(`/users/${userId}`)
  expect(again.userId).toBe(userId)
  expect(rowsOf({ body })).toEqual([idOf(again.place), idOf(place)])
  expect(body).not.toContain(idOf(untouched))
})
