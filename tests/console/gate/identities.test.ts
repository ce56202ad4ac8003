import { describe, expect, test } from 'bun:test'
import { newOperator } from '../../support/operator.ts'
import { audited } from '../console-fixture.ts'
import { CHANGERS, type GateFixture, gateFixture, HOSTILE, READERS, wayOn } from './gate-fixture.ts'

const MINUTE = 60_000
const PATH = '/console/identities'
const PASSWORD = { password: { config: { password: 'correct horse battery' } } }

async function person(api: GateFixture['apiOfAcme'], email = 'ada@example.com', more: object = {}) {
  const { status, body } = await api.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email },
    ...more,
  })
  expect(status).toBe(201)
  return body as { id: string; updated_at: string }
}

/** Somebody of the first tenant who has signed in once. */
async function signIn({ db, gate, acme }: GateFixture, id: string) {
  const { session } = await db.commit(() =>
    gate.sessions.open(gate.people.existing(acme.id, id), {
      assuranceLevel: 'aal1',
      methods: [{ method: 'password', aal: 'aal1' }],
      ipAddress: '203.0.113.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    }),
  )
  return session.id
}

const isSignedIn = ({ gate, acme }: GateFixture, sessionId: string) =>
  gate.sessions.alive(acme.id, sessionId) !== undefined

const objects = (fixture: GateFixture, action: string) =>
  audited(fixture, action).map(({ actor_kind: kind, actor_id: id, object }) => [kind, id, object])

describe('the list of identities', () => {
  test('is for all who belong to the tenant', async () => {
    await using fixture = await gateFixture()
    expect(await fixture.statuses(PATH)).toEqual(READERS)
    expect(await fixture.statuses(`${PATH}/new`)).toEqual(CHANGERS)
  })

  test('says what to do while nobody is there', async () => {
    await using fixture = await gateFixture()
    const [owner, viewer] = [await fixture.operator('owner'), await fixture.operator('viewer')]
    expect((await owner.open(PATH)).body).toContain('Create user')
    const { body } = await viewer.open(PATH)
    expect(body).toContain('No users yet')
    expect(body).not.toContain('Create user')
  })

  test('finds people by id, by how their address begins, and by state', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com')
    await person(fixture.apiOfAcme, 'bob@example.com', { state: 'inactive' })
    await person(fixture.apiOfOther, 'ada@other.example')
    const { open } = await fixture.operator('viewer')
    const found = async (query: string) =>
      (await open(`${PATH}${query}`)).body.match(/(ada|bob|zoe)@\w+\.\w+(?=<\/bdi>)/g) ?? []

    expect(await found('')).toEqual(['bob@example.com', 'ada@example.com'])
    expect(await found('?q=AD')).toEqual(['ada@example.com'])
    expect(await found(`?q=${ada.id.toUpperCase()}`)).toEqual(['ada@example.com'])
    expect(await found(`?q=${ada.id}&state=inactive`)).toEqual([])
    expect(await found('?state=inactive')).toEqual(['bob@example.com'])
    expect(await found('?q=zoe')).toEqual([])
    expect((await open(PATH)).body).toContain('1 active, 1 inactive')
  })

  test('goes on page by page, and keeps what was asked', async () => {
    await using fixture = await gateFixture()
    for (let number = 10; number < 61; number++)
      await person(fixture.apiOfAcme, `p${number}@example.com`)
    const { open } = await fixture.operator('viewer')
    const first = (await open(`${PATH}?state=active`)).body as string
    const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first) ?? []
    const second = (await open(next.replaceAll('&amp;', '&'))).body as string
    expect(next).toContain('state=active')
    expect(first).not.toContain('p10@example.com')
    expect(second).toContain('p10@example.com')
    expect(second).not.toContain('p11@example.com')
    expect(second).toContain('rel="prev"')
  })

  test('says that a cursor is none, and draws all the same', async () => {
    await using fixture = await gateFixture()
    const { open } = await fixture.operator('viewer')
    const { status, body } = await open(`${PATH}?cursor=nonsense`)
    expect([status, body]).toEqual([422, expect.stringContaining('ust be a cursor from this list')])
  })
})

describe('a new identity', () => {
  test('is made with password, proven address and metadata, by the operator', async () => {
    await using fixture = await gateFixture()
    const member = await fixture.operator('member')
    const answer = await member.send(PATH, {
      email: 'ada@example.com',
      password: 'correct horse battery',
      verified: 'true',
      metadata: '{"roles": ["admin"]}',
    })
    const { data } = (await fixture.apiOfAcme.get('/v1/gate/identities')).body
    expect(data).toMatchObject([
      {
        traits: { email: 'ada@example.com' },
        metadata_public: { roles: ['admin'] },
        verifiable_addresses: [{ verified: true }],
        credentials: { password: {} },
      },
    ])
    const [{ id }] = data
    expect(wayOn(answer)).toEqual([303, `${PATH}/${id}?done=created`])
    expect(objects(fixture, 'identity.created')).toContainEqual([
      'operator',
      member.id,
      `identity:${id}`,
    ])
  })

  test.each([
    ['email', { email: 'no address' }],
    ['email', { email: 'taken@example.com' }],
    ['email', { email: HOSTILE }],
    ['password', { email: 'a@example.com', password: 'x'.repeat(10_000) }],
    ['metadata', { email: 'a@example.com', metadata: '{"a": ' }],
    ['metadata', { email: 'a@example.com', metadata: '[<script>]' }],
    ['metadata', { email: 'a@example.com', metadata: '[]' }],
    ['metadata', { email: 'a@example.com', metadata: '{"n": 12345678901234567890}' }],
    ['metadata', { email: 'a@example.com', metadata: '{"__proto__": 1}' }],
  ])('says beside %s what is wrong, and keeps what was typed', async (name, fields) => {
    await using fixture = await gateFixture()
    await person(fixture.apiOfAcme, 'taken@example.com')
    const { send } = await fixture.operator('member')
    const { status, body } = await send(PATH, fields)
    expect([status, body]).toEqual([422, expect.stringContaining(`id="field-${name}-error"`)])
    expect(body).not.toContain('<script>')
    expect(body).toContain(fields.email.slice(-100))
    expect((await fixture.apiOfAcme.get('/v1/gate/identities')).body.data).toHaveLength(1)
  })

  test('is refused to viewers', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('viewer')
    expect((await send(PATH, { email: 'ada@example.com' })).status).toBe(403)
  })
})

describe('the page of an identity', () => {
  test('is for all who belong to the tenant, and of its own people', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const eve = await person(fixture.apiOfOther)
    const operator = await newOperator(fixture, { roles: { [fixture.acme.id]: 'viewer' } })
    expect(await fixture.statuses(`${PATH}/${ada.id}`)).toEqual(READERS)
    const owner = await fixture.operator('owner')
    for (const id of [eve.id, operator.id, 'nonsense']) {
      expect((await owner.open(`${PATH}/${id}`)).status).toBe(404)
      for (const verb of [
        'metadata',
        'deactivate',
        'activate',
        'delete',
        'credentials/password/remove',
        'accounts/github/remove',
        'verify',
        'recover',
        'sessions/revoke',
        'sessions/any/revoke',
      ])
        expect((await owner.send(`${PATH}/${id}/${verb}`)).status).toBe(404)
    }
    const { body } = await fixture.apiOfOther.get(`/v1/gate/identities/${eve.id}`)
    expect(body.updated_at).toBe(eve.updated_at)
  })

  test('shows who they are, how they sign in and where they are signed in', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { credentials: PASSWORD })
    await signIn(fixture, ada.id)
    const { open } = await fixture.operator('viewer')
    const { body } = await open(`${PATH}/${ada.id}`)
    for (const words of [
      'Active, 1 session, last on Firefox on Linux',
      'Not verified',
      'Password',
      '203.0.113.7',
      ada.id,
    ])
      expect(body).toContain(words)
    expect(body).not.toContain('<form class="inline"')
    expect(body).not.toContain('Danger zone')
  })

  test('shows what tenants keep as text, whatever it is', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, "o'neil&co@example.com", {
      metadata_public: { note: HOSTILE },
    })
    const { open } = await fixture.operator('member')
    const { body } = await open(`${PATH}/${ada.id}`)
    expect(body).not.toContain('<script>alert')
    expect(body).toContain('x'.repeat(10_000))
  })

  test('ends one session, and all of them', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const bob = await person(fixture.apiOfAcme, 'bob@example.com')
    const sessions = [await signIn(fixture, ada.id), await signIn(fixture, ada.id)]
    const foreign = await signIn(fixture, bob.id)
    const member = await fixture.operator('member')
    const [first = ''] = sessions

    const answer = await member.send(`${PATH}/${ada.id}/sessions/${first}/revoke`)
    expect(wayOn(answer)).toEqual([303, `${PATH}/${ada.id}?done=session`])
    expect(sessions.map((id) => isSignedIn(fixture, id))).toEqual([false, true])
    expect((await member.send(`${PATH}/${ada.id}/sessions/${foreign}/revoke`)).status).toBe(404)
    await member.send(`${PATH}/${ada.id}/sessions/revoke`)
    expect(sessions.map((id) => isSignedIn(fixture, id))).toEqual([false, false])
    expect(isSignedIn(fixture, foreign)).toBe(true)
    expect(objects(fixture, 'session.revoked')).toEqual([
      ['operator', member.id, `session:${first}`],
    ])
    expect(objects(fixture, 'sessions.revoked')).toEqual([
      ['operator', member.id, `identity:${ada.id}`],
    ])
  })

  test('takes a way to sign in away', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { credentials: PASSWORD })
    const member = await fixture.operator('member')
    await member.send(`${PATH}/${ada.id}/credentials/password/remove`)
    const { body } = await fixture.apiOfAcme.get(`/v1/gate/identities/${ada.id}`)
    expect(body.credentials).toEqual({})
    expect(objects(fixture, 'identity.credential_removed')).toEqual([
      ['operator', member.id, `identity:${ada.id}`],
    ])
    expect((await member.open(`${PATH}/${ada.id}`)).body).toContain('No sign-in methods yet')
    expect((await member.send(`${PATH}/${ada.id}/credentials/none/remove`)).status).toBe(400)
  })

  test('switches somebody off and on', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const session = await signIn(fixture, ada.id)
    const member = await fixture.operator('member')
    await member.send(`${PATH}/${ada.id}/deactivate`)
    expect(isSignedIn(fixture, session)).toBe(false)
    expect((await member.open(`${PATH}/${ada.id}`)).body).toContain('Inactive. This user can')
    await member.send(`${PATH}/${ada.id}/activate`)
    const { body } = await fixture.apiOfAcme.get(`/v1/gate/identities/${ada.id}`)
    expect([body.state, isSignedIn(fixture, session)]).toEqual(['active', false])
    const row = ['operator', member.id, `identity:${ada.id}`]
    expect(objects(fixture, 'identity.state_changed')).toEqual([row, row])
  })

  test('deletes, for owners alone', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const [owner, member] = [await fixture.operator('owner'), await fixture.operator('member')]
    expect((await member.open(`${PATH}/${ada.id}`)).body).not.toContain('Delete user')
    expect((await member.send(`${PATH}/${ada.id}/delete`)).status).toBe(403)
    const answer = await owner.send(`${PATH}/${ada.id}/delete`)
    expect(wayOn(answer)).toEqual([303, `${PATH}?done=deleted`])
    expect((await owner.open(`${PATH}/${ada.id}`)).status).toBe(404)
    expect((await owner.open(`${PATH}?done=deleted`)).body).toContain('User deleted.')
    expect(objects(fixture, 'identity.deleted')).toEqual([
      ['operator', owner.id, `identity:${ada.id}`],
    ])
  })

  test('is looked at, not changed, by viewers', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const { send } = await fixture.operator('viewer')
    for (const verb of [
      'metadata',
      'deactivate',
      'activate',
      'delete',
      'verify',
      'recover',
      'sessions/revoke',
    ])
      expect((await send(`${PATH}/${ada.id}/${verb}`, { metadata: '{}' })).status).toBe(403)
  })
})

describe('the metadata of an identity', () => {
  test('is put in the place of what was there', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { metadata_public: { old: 1 } })
    const member = await fixture.operator('member')
    const answer = await member.send(`${PATH}/${ada.id}/metadata`, {
      metadata: '{"plan": "pro"}',
      seen: ada.updated_at,
    })
    expect(wayOn(answer)).toEqual([303, `${PATH}/${ada.id}?done=metadata`])
    const { body } = await fixture.apiOfAcme.get(`/v1/gate/identities/${ada.id}/metadata`)
    expect(body).toEqual({ plan: 'pro' })
    expect(objects(fixture, 'identity.updated')).toEqual([
      ['operator', member.id, `identity:${ada.id}`],
    ])
  })

  test('comes back with what is wrong, or when somebody else was faster', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { metadata_public: { old: 1 } })
    const { send } = await fixture.operator('member')
    const path = `${PATH}/${ada.id}/metadata`
    const wrong = await send(path, { metadata: '{"plan": pro}', seen: ada.updated_at })
    expect([wrong.status, wrong.body]).toEqual([422, expect.stringContaining('Must be JSON')])
    expect(wrong.body).toContain('{&quot;plan&quot;: pro}')
    fixture.clock.jump(1000)
    await fixture.apiOfAcme.patch(`/v1/gate/identities/${ada.id}/metadata`, { theirs: true })
    const late = await send(path, { metadata: '{"plan": "pro"}', seen: ada.updated_at })
    expect([late.status, late.body]).toEqual([422, expect.stringContaining('Has changed since')])
    const [, seen = ''] = /name="seen" value="([^"]+)"/.exec(late.body) ?? []
    expect((await send(path, { metadata: '{"plan": "pro"}', seen })).status).toBe(303)
  })
})

describe('accounts elsewhere', () => {
  test('are taken away one by one', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    for (const [provider, subject] of [
      ['github', '583231'],
      ['google', '<script>alert(1)</script>'],
    ])
      fixture.db.client
        .query('INSERT INTO gate_social_links VALUES (?, ?, ?, ?, NULL, 1, 1)')
        .run(fixture.acme.id, provider ?? '', subject ?? '', ada.id)
    const member = await fixture.operator('member')
    const { body } = await member.open(`${PATH}/${ada.id}`)
    expect(body).toContain('GitHub')
    expect(body).toContain('583231')
    expect(body).not.toContain('<script>alert')

    const answer = await member.send(`${PATH}/${ada.id}/accounts/github/remove`)
    expect(wayOn(answer)).toEqual([303, `${PATH}/${ada.id}?done=credential`])
    const { credentials } = (await fixture.apiOfAcme.get(`/v1/gate/identities/${ada.id}`)).body
    expect(credentials.oidc.identifiers).toEqual(['google:<script>alert(1)</script>'])
    expect(objects(fixture, 'identity.credential_removed')).toEqual([
      ['operator', member.id, `identity:${ada.id}`],
    ])
    const unknown = await member.send(`${PATH}/${ada.id}/accounts/toString/remove`)
    expect(unknown.status).toBe(404)
  })
})

describe('mails to somebody', () => {
  const mailsTo = ({ mail }: GateFixture) => mail.outbox.list('all', { limit: 10 })
  const mailCount = ({ db }: GateFixture) => db.client.query('SELECT id FROM mails').all().length

  test('bring a way back in, with a code that works once', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { credentials: PASSWORD })
    const session = await signIn(fixture, ada.id)
    const member = await fixture.operator('member')
    const answer = await member.send(`${PATH}/${ada.id}/recover`)
    expect(wayOn(answer)).toEqual([303, `${PATH}/${ada.id}?done=kept`])
    expect(objects(fixture, 'identity.recovery_sent')).toEqual([
      ['operator', member.id, `identity:${ada.id}`],
    ])

    const [sent] = mailsTo(fixture)
    const text = fixture.mail.outbox.read('all', sent?.id ?? '')?.body?.text ?? ''
    const [link = ''] = /^https?:\S+$/m.exec(text) ?? []
    expect(sent?.recipient).toBe('ada@example.com')
    expect((await member.open(`${PATH}/${ada.id}`)).body).not.toContain(link)
    const { searchParams } = new URL(link)
    const path = `/v1/gate/auth/recovery/submit?flow=${searchParams.get('flow')}`
    const code = { method: 'code', code: searchParams.get('code') }
    expect((await fixture.apiOfAcme.post(path, code)).status).toBe(200)
    expect((await fixture.apiOfAcme.post(path, code)).status).not.toBe(200)
    expect(isSignedIn(fixture, session)).toBe(false)
  })

  test('ask for proof of an address, until it is proven', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const member = await fixture.operator('member')
    expect((await member.open(`${PATH}/${ada.id}`)).body).toContain('Send verification email')
    const answer = await member.send(`${PATH}/${ada.id}/verify`)
    expect(wayOn(answer)).toEqual([303, `${PATH}/${ada.id}?done=kept`])
    expect(objects(fixture, 'verification.sent')).toEqual([
      ['operator', member.id, `identity:${ada.id}`],
    ])
    const bob = await person(fixture.apiOfAcme, 'bob@example.com', {
      verifiable_addresses: [{ value: 'bob@example.com', verified: true }],
    })
    expect((await member.open(`${PATH}/${bob.id}`)).body).not.toContain('Send verification email')
    expect((await member.send(`${PATH}/${bob.id}/verify`)).status).toBe(400)
  })

  test('stop where an address has had enough', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const { send, open } = await fixture.operator('member')
    const places: (string | null)[] = []
    for (let time = 0; time < 12; time++)
      places.push((await send(`${PATH}/${ada.id}/recover`)).headers.get('location'))
    expect(places[0]).toEndWith('?done=kept')
    expect(places.at(-1)).toEndWith('?done=enough')
    const enough = places.filter((place) => place?.endsWith('?done=enough')).length
    expect(mailsTo(fixture)).toHaveLength(12 - enough)
    expect((await open(`${PATH}/${ada.id}?done=enough`)).body).toContain('too many emails')
  })

  test('are a hundred an hour of all operators of a tenant', async () => {
    await using fixture = await gateFixture()
    const [member, owner] = [await fixture.operator('member'), await fixture.operator('owner')]
    const mailed = async ({ send }: typeof member, name: string) => {
      const { id } = await person(fixture.apiOfAcme, `${name}@example.com`)
      return wayOn(await send(`${PATH}/${id}/recover`))[1]
        ?.toString()
        .split('=')
        .at(-1)
    }
    const before = mailCount(fixture)
    for (let n = 0; n < 100; n++) expect(await mailed(member, `person-${n}`)).toBe('kept')
    for (const operator of [member, owner])
      expect(await mailed(operator, `more-${operator.id}`)).toBe('enough')
    expect(mailCount(fixture) - before).toBe(100)

    // What a program orders is counted by its key.
    const { id } = await person(fixture.apiOfAcme, 'ordered@example.com')
    const ordered = await fixture.apiOfAcme.post(`/v1/gate/identities/${id}/resend-verification`)
    expect([ordered.status, mailCount(fixture) - before]).toEqual([202, 101])
    fixture.clock.spend(MINUTE)
    expect(await mailed(member, 'later')).toBe('kept')
  })

  test('are none to somebody who is inactive', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { state: 'inactive' })
    const { send, open } = await fixture.operator('member')
    expect((await send(`${PATH}/${ada.id}/recover`)).status).toBe(400)
    expect((await open(`${PATH}/${ada.id}`)).body).not.toContain('Send recovery email')
    expect(mailsTo(fixture)).toEqual([])
  })
})

describe('what happened to somebody', () => {
  test('is told by their sessions, by events and by the audit log, the latest first', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme, 'ada@example.com', { credentials: PASSWORD })
    fixture.clock.jump(1000)
    await signIn(fixture, ada.id)
    fixture.clock.jump(1000)
    const member = await fixture.operator('member')
    await member.send(`${PATH}/${ada.id}/deactivate`)
    const { body } = await member.open(`${PATH}/${ada.id}`)
    const history = body.slice(body.indexOf('id="history"'))
    const places = ['Deactivated', 'Signed in with password', 'Created'].map((words) =>
      history.indexOf(words),
    )
    expect(places.every((place) => place > 0)).toBe(true)
    expect(places).toEqual(places.toSorted((one, other) => one - other))
    expect(history).toContain('203.0.113.7')
    expect(history).toMatch(/By <bdi[^>]*>operator-\d+@example\.com/)
  })

  test('is of nobody else', async () => {
    await using fixture = await gateFixture()
    const ada = await person(fixture.apiOfAcme)
    const bob = await person(fixture.apiOfAcme, 'bob@example.com')
    await signIn(fixture, bob.id)
    const { open } = await fixture.operator('viewer')
    expect((await open(`${PATH}/${ada.id}`)).body).not.toContain('Signed in with')
  })
})

test('sign-ins and newcomers of a day are counted, by the hour', async () => {
  await using fixture = await gateFixture()
  for (const name of ['ada', 'bob']) await person(fixture.apiOfAcme, `${name}@example.com`)
  await person(fixture.apiOfOther, 'eve@example.com')
  const { open } = await fixture.operator('viewer')
  const label = 'New users, 24 h, by hour'
  expect((await open(PATH)).body).toContain(`${label}: 2 in total`)
  fixture.clock.jump(25 * 3_600_000)
  expect(fixture.gate.history.frequency({ tenantId: fixture.acme.id }, 'identity.created')).toEqual(
    { hours: Array(24).fill(0), isCut: false },
  )
})
