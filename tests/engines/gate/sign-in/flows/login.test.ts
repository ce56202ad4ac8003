import { describe, expect, spyOn, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { DAY, HOUR, IDENTITIES, type Json, MINUTE, plain, SESSIONS } from '../../fixture.ts'
import { ID, rowsOf } from '../../identities/people.ts'
import { ADA, BOB, refuses, withToken } from './acts.ts'
import { bootChecked, listening, PEER, pretendPeers, saidIn, steady } from './checked.ts'
import { FLOW_MS, isoAt, person, read, sessionsOf, type Tenant, useFlows } from './code-fixture.ts'
import { csrfOf, PASSWORD, pathOf, totpAt } from './fixture.ts'
import { countVerifications, holdPasswords, untilIt } from './held-passwords.ts'

const flows = await useFlows()
const { clock, app } = flows

const LOGIN = { method: 'password', identifier: ADA, password: PASSWORD }

async function withAda(fields: Json = {}) {
  const acme = await flows.newTenant()
  return { acme, ada: await person(acme, ADA, fields) }
}

const hashOf = (identity: Json): string =>
  JSON.parse(
    rowsOf(app, 'gate_credentials').find(
      ({ identity_id, type }) => identity_id === identity.id && type === 'password',
    ).config,
  ).hashed_password

const setHash = (identity: Json, hash: string) =>
  app.db.client.run(
    "update gate_credentials set config = json_object('hashed_password', ?) where identity_id = ?",
    [hash, identity.id],
  )

describe('the right password', () => {
  test('opens a session, whose token is shown this once', async () => {
    const { acme, ada } = await withAda()
    const now = isoAt(clock.now())
    const { status, body } = await acme.tryPassword(ADA)
    expect(status).toBe(200)
    const { credentials: _, ...identity } = await acme.readIdentity(ada)
    const { session_token: token, session } = body
    expect(token).toMatch(/^gat_st_[0-9A-Za-z]{43}$/)
    expect(body).toStrictEqual({
      session_token: token,
      session: {
        id: ID,
        token,
        active: true,
        issued_at: now,
        expires_at: isoAt(clock.now() + DAY),
        authenticated_at: now,
        authenticator_assurance_level: 'aal1',
        authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: now }],
        devices: [{ id: session.id, ip_address: null, user_agent: null, location: null }],
        identity,
      },
      continue_with: [{ action: 'set_ory_session_token', ory_session_token: token }],
    })
    const { token: _token, ...shown } = session
    expect((await acme.whoami(token)).body).toEqual(shown)
    const { identity: _identity, ...listed } = shown
    expect(await sessionsOf(acme, ada)).toEqual([listed])

    const second = await acme.signIn(ADA)
    expect(second.session_token).not.toBe(token)
    expect(await sessionsOf(acme, ada)).toHaveLength(2)
  })

  test.each([
    ['one@bücher.example', 'One@BÜCHER.example'],
    ['two@bücher.example', ' two@xn--bcher-kva.example\n'],
    ['three@example.com', '\tTHREE@EXAMPLE.COM '],
    ['vier-ä@example.com', 'VIER-A\u0308@example.com'],
    ['σίσυφος@example.com', 'ΣΊΣΥΦΟΣ@example.com'],
  ])('goes with any spelling of the address: %s', async (email, spelled) => {
    const acme = await flows.newTenant()
    const { id } = await acme.createIdentity({
      traits: { email },
      credentials: { password: { config: { password: PASSWORD } } },
    })
    expect((await acme.signIn(spelled)).session.identity.id).toBe(id)
  })

  test('may be sent without a method, by the old name of the address, or as a form', async () => {
    const { acme } = await withAda()
    for (const { method, identifier, ...fields } of [
      { ...LOGIN, method: undefined },
      { ...LOGIN, identifier: undefined, password_identifier: ADA },
    ]) {
      const sent = { ...fields, ...(method && { method }), ...(identifier && { identifier }) }
      expect((await acme.send(await acme.start('login'), sent)).status).toBe(200)
    }
    const flow = await acme.start('login')
    const { status } = await app.raw(pathOf(flow.ui.action), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf_token: csrfOf(flow), ...LOGIN }).toString(),
    })
    expect(status).toBe(200)
  })

  /** A text of this many characters, without repetitions. */
  const ofCharacters = (count: number, sign: string) =>
    [...Array.from({ length: count }, (_, at) => `${at}${sign}`).join('')].slice(0, count).join('')

  test.each([
    'kqzv8wjx',
    'pässwörd mit Umlaut',
    '  blanks around it  ',
    '"\\/\u0001\u2028 <script>',
    ofCharacters(1024, 'x'),
    ofCharacters(1024, '🐎'),
  ])('is the one that was set (%#)', async (password) => {
    const acme = await flows.newTenant()
    await acme.register(ADA, password)
    expect((await acme.tryPassword(ADA, password)).status).toBe(200)
    expect((await acme.tryPassword(ADA)).status).toBe(422)
  })

  test('is that of this tenant', async () => {
    const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
    const here = await acme.register(ADA, 'the one at acme 1')
    await globex.register(ADA, 'the other one 22')
    const { session } = await acme.signIn(ADA, 'the one at acme 1')
    expect(session.identity.id).toBe(here.identity.id)
    expect((await acme.tryPassword(ADA, 'the other one 22')).status).toBe(422)
    expect((await globex.tryPassword(ADA, 'the one at acme 1')).status).toBe(422)
  })
})

describe('a wrong password', () => {
  test('is any other text', async () => {
    const acme = await flows.newTenant()
    const password = 'pässwörter sind lang'
    await acme.register(ADA, password)
    for (const wrong of [
      password.toUpperCase(),
      `${password} `,
      password.slice(0, -1),
      `${password}y`,
      'x'.repeat(1025),
      password.padEnd(2000, 'x'),
      '\u200b',
      password.normalize('NFD'),
    ]) {
      const { status, body } = await acme.tryPassword(ADA, wrong)
      expect([status, saidIn(body)]).toEqual([422, [4000006]])
      expect(body.ui.messages[0].type).toBe('error')
    }
  })

  test('is answered alike for all people, with the same work', async () => {
    const { acme } = await withAda()
    const globex = await flows.newTenant()
    await person(globex, 'theirs@example.com')
    await person(acme, 'without@example.com', { password: null })
    await person(acme, 'inactive@example.com', { state: 'inactive' })
    const deleted = await person(acme, 'deleted@example.com')
    await acme.api.delete(`${IDENTITIES}/${deleted.id}`)

    const wrong = 'the same wrong password'
    const answerTo = async (identifier: string) => {
      using verified = countVerifications(wrong)
      const answer = steady(await acme.tryPassword(identifier, wrong), identifier)
      const costs = verified.hashes().map((hash) => hash.replace(/[^$]+\$[^$]+$/, ''))
      expect(costs, identifier).toEqual(['$argon2id$v=19$m=8192,t=1,p=1$'])
      return answer
    }
    const known = await answerTo(ADA)
    expect([known.status, known.body]).toEqual([422, expect.stringContaining('4000006')])
    for (const name of ['unknown', 'without', 'inactive', 'deleted', 'theirs']) {
      const email = `${name}@example.com`
      expect(await answerTo(email), name).toEqual(known)
    }
    await answerTo('no address')
  })

  test('opens no session, and the flow can be tried again', async () => {
    const { acme, ada } = await withAda()
    const flow = await acme.start('login')
    for (let tries = 0; tries < 3; tries++)
      expect((await acme.send(flow, { ...LOGIN, password: 'wrong' })).status).toBe(422)
    expect(await sessionsOf(acme, ada)).toEqual([])
    expect((await acme.send(flow, LOGIN)).status).toBe(200)
  })
})

test('an inactive person is told so with the right password alone, until active again', async () => {
  const { acme, ada } = await withAda({ state: 'inactive' })
  const flow = await acme.start('login')
  for (const [password, id] of [
    ['wrong', 4000006],
    [PASSWORD, 4010011],
  ] as const) {
    const { status, body } = await acme.send(flow, { ...LOGIN, password })
    expect([status, saidIn(body)]).toEqual([422, [id]])
  }
  expect(await sessionsOf(acme, ada)).toEqual([])
  await acme.setState(ada, 'active')
  expect((await acme.send(flow, LOGIN)).status).toBe(200)
})

describe('while a password is verified', () => {
  /** Signs in with the right password; `meanwhile` happens before that is known. */
  async function signInDuring(acme: Tenant, meanwhile: () => unknown, password = PASSWORD) {
    const flow = await acme.start('login')
    using passwords = holdPasswords()
    const sent = acme.send(flow, { ...LOGIN, password })
    await untilIt(() => passwords.begun() === 1)
    await meanwhile()
    passwords.release()
    const { status, body } = await sent
    return [status, ...(status === 200 ? [] : saidIn(body))]
  }

  type Act = (acme: Tenant, ada: Json) => unknown
  const EVENTS: [string, Act, number[], sessions: number][] = [
    ['nothing may happen', () => {}, [200], 1],
    [
      'the person may sign in elsewhere',
      (acme, ada) => acme.openSession(ada),
      [200],
      2,
    ],
    [
      'the person may be deactivated',
      (acme, ada) => acme.setState(ada, 'inactive'),
      [422, 4010011],
      0,
    ],
    ['the flow may expire', () => clock.jump(FLOW_MS), [422, 4010001], 0],
  ]

  test.each(EVENTS)('%s', async (_, act, expected, sessions) => {
    const { acme, ada } = await withAda()
    expect(await signInDuring(acme, () => act(acme, ada))).toEqual(expected)
    expect(await sessionsOf(acme, ada)).toHaveLength(sessions)
  })

  test('the person may be deleted', async () => {
    const { acme, ada } = await withAda()
    const remove = () => acme.api.delete(`${IDENTITIES}/${ada.id}`)
    expect(await signInDuring(acme, remove)).toEqual([422, 4000006])
    const owners = rowsOf(app, 'gate_sessions').map(({ identity_id }) => identity_id)
    expect(owners).not.toContain(ada.id)
  })

  test('the password may be changed, and is not replaced by a new hash of the old one', async () => {
    const another = hashOf(await person(await flows.newTenant(), BOB))
    for (const [fields, password] of [
      [{}, PASSWORD],
      [IMPORTED, OF_IMPORTED],
    ] as const) {
      const { acme, ada } = await withAda(fields)
      const change = () => setHash(ada, another)
      expect(await signInDuring(acme, change, password)).toEqual([422, 4000006])
      expect(await sessionsOf(acme, ada)).toEqual([])
      expect(hashOf(ada)).toBe(another)
    }
  })
})

describe('a flow', () => {
  test('signs in once, also with several right forms at once', async () => {
    const { acme, ada } = await withAda()
    const bob = await person(acme, BOB)
    const flow = await acme.start('login')
    await using hooks = await listening(acme)
    const forms = [LOGIN, LOGIN, { ...LOGIN, identifier: BOB }]
    const answers = await Promise.all(forms.map((form) => acme.send(flow, form)))
    const refused = answers.filter(({ status }) => status === 422)
    expect(refused).toHaveLength(2)
    for (const { body } of refused) {
      expect(saidIn(body)).toEqual([4010007])
      expect(JSON.stringify(body)).not.toContain('gat_st_')
    }
    const sessions = async () => [
      ...(await sessionsOf(acme, ada)),
      ...(await sessionsOf(acme, bob)),
    ]
    expect(await sessions()).toHaveLength(1)
    expect(await hooks.events()).toHaveLength(1)

    using passwords = holdPasswords()
    for (const fields of [
      LOGIN,
      { ...LOGIN, password: 'wrong' },
      { method: 'code', identifier: ADA },
      { method: 'nonsense' },
      {},
    ]) {
      const { status, body } = await acme.send(flow, fields)
      expect([status, saidIn(body)]).toEqual([422, [4010007]])
      expect(body).toMatchObject({ id: flow.id, state: 'passed_challenge' })
    }
    expect(passwords.begun()).toBe(0)
    expect(await sessions()).toHaveLength(1)
  })

  test('does not end another', async () => {
    const { acme } = await withAda()
    const both = [await acme.start('login'), await acme.start('login')]
    const answers = await Promise.all(both.map((flow) => acme.send(flow, LOGIN)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })
})

const BCRYPT = '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'
const OF_IMPORTED = 'correct horse batterÿ 🐎'
const IMPORTED = { credentials: { password: { config: { hashed_password: BCRYPT } } } }

describe('an imported hash', () => {
  const OURS = /^\$argon2id\$v=19\$m=8192,t=1,p=1\$/

  test('is replaced at a sign-in, with one of the same password', async () => {
    const { acme, ada } = await withAda(IMPORTED)
    expect((await acme.tryPassword(ADA, OF_IMPORTED)).status).toBe(200)
    const renewed = hashOf(ada)
    expect(renewed).toMatch(OURS)
    expect((await acme.tryPassword(ADA, OF_IMPORTED)).status).toBe(200)
    expect(hashOf(ada)).toBe(renewed)
    expect((await acme.tryPassword(ADA)).status).toBe(422)
  })

  test('is replaced if it has another cost', async () => {
    const options = { algorithm: 'argon2id', memoryCost: 9216, timeCost: 2 } as const
    const hashed_password = await Bun.password.hash(PASSWORD, options)
    const { acme, ada } = await withAda({
      credentials: { password: { config: { hashed_password } } },
    })
    await acme.signIn(ADA)
    expect(hashOf(ada)).toMatch(OURS)
  })

  test('stays if nobody is signed in', async () => {
    const { acme, ada } = await withAda({ ...IMPORTED, state: 'inactive' })
    await acme.tryPassword(ADA, 'wrong')
    const { body } = await acme.tryPassword(ADA, OF_IMPORTED)
    expect(saidIn(body)).toEqual([4010011])
    expect(hashOf(ada)).toBe(BCRYPT)
  })

  test('stays while no hash can be made, and signs in', async () => {
    const { acme, ada } = await withAda(IMPORTED)
    const busy = Object.assign(new Error('busy'), { kind: 'unavailable' })
    using hash = spyOn(Bun.password, 'hash').mockRejectedValue(busy)
    expect((await acme.tryPassword(ADA, OF_IMPORTED)).status).toBe(200)
    expect(hash).toHaveBeenCalledTimes(1)
    expect(hashOf(ada)).toBe(BCRYPT)
  })
})

// A queue of passwords that is full, so with settings of its own.
describe('more passwords than can be verified', () => {
  const WORKERS = Math.max(2, availableParallelism())
  const AT_ONCE = WORKERS + 1
  const WRONG = { ...LOGIN, password: 'wrong' }

  test('are refused without being counted, and leave their flow as it was', async () => {
    const limit = AT_ONCE + 1
    await using own = await bootChecked({
      flags: {
        'gate-password-queue': '1',
        'limits-sign-ins-per-identifier-per-minute': `${limit}`,
      },
    })
    const waiting = await Promise.all(Array.from({ length: limit }, () => own.start('login')))
    const other = await own.start('login')
    using passwords = holdPasswords()
    const sent = waiting.map((flow) => own.send(flow, WRONG))
    const refused = await Promise.race(sent)
    expect(refused).toMatchObject(plain(503, 'too many passwords'))
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await own.send(other, WRONG)).status).toBe(503)
    expect((await read(own, other)).body).toEqual(other)
    passwords.release()
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([...Array(AT_ONCE).fill(422), 503])
    expect((await own.send(other, WRONG)).status).toBe(422)
    expect((await own.send(other, WRONG)).status).toBe(429)
  })

  test('delay no other tenant, which gets the next free worker', async () => {
    const own = await useFlows({ flags: { 'gate-password-queue': '4' } })
    const globex = await own.newTenant()
    await globex.register(ADA)
    using passwords = holdPasswords()
    const attempts = Array.from({ length: WORKERS + 6 }, (_, n) =>
      own.tryPassword(`nobody-${n}@example.com`, `attack ${n}`),
    )
    expect((await Promise.race(attempts)).status).toBe(503)
    const signIn = globex.tryPassword(ADA)
    // These take more turns of the event loop than the sign-in needs to be queued.
    for (let n = 0; n < 3; n++) await globex.start('login')
    passwords.releaseFirst()
    await untilIt(() => passwords.begun() > WORKERS)
    expect(passwords.passwords()[WORKERS]).toBe(PASSWORD)
    passwords.release()
    expect((await signIn).status).toBe(200)
    await Promise.all(attempts)
  })
})

describe('a signed-in person who signs in again', () => {
  const again = (acme: Tenant, token: string) =>
    acme.start('login', withToken(token), '?refresh=true')

  test('keeps the session, which is recent from then on', async () => {
    const { acme, ada } = await withAda()
    const { session_token: token, session } = await acme.signIn(ADA)
    await using hooks = await listening(acme)
    clock.jump(3 * HOUR)
    const now = isoAt(clock.now())
    const done = await acme.sendWell(await again(acme, token), { password: PASSWORD })
    expect(done.session_token).toBe(token)
    expect(done.session).toStrictEqual({
      ...session,
      authenticated_at: now,
      authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: now }],
    })
    expect(await sessionsOf(acme, ada)).toHaveLength(1)
    expect(await hooks.events()).toEqual([])
  })

  test('stays the same person, whatever address is sent', async () => {
    const { acme, ada } = await withAda()
    await person(acme, BOB, { password: 'the password of bob 2' })
    const { session_token: token } = await acme.signIn(ADA)
    const flow = await again(acme, token)
    const fields = { method: 'password', identifier: BOB }
    const refused = await acme.send(flow, { ...fields, password: 'the password of bob 2' })
    expect([refused.status, saidIn(refused.body)]).toEqual([422, [4000006, 1010003]])
    const { session } = await acme.sendWell(flow, { ...fields, password: PASSWORD })
    expect(session.identity.id).toBe(ada.id)
  })

  test('can not if the session has ended', async () => {
    const { acme, ada } = await withAda()
    const { session_token: token, session } = await acme.signIn(ADA)
    const flow = await again(acme, token)
    await acme.api.delete(`${SESSIONS}/${session.id}`)
    const answer = await acme.send(flow, { password: PASSWORD })
    expect(answer).toMatchObject(refuses(401, 'session_inactive'))
    expect(await sessionsOf(acme, ada)).toEqual([])
  })
})

// Addresses of clients are those of the whole app.
describe('the device of a session', () => {
  const deviceOf = async (flags: Record<string, string>, headers: Record<string, string>) => {
    await using own = await bootChecked({ flags })
    pretendPeers(own.app)
    await person(own, ADA)
    const started = { [PEER]: '192.0.2.1', 'user-agent': 'the server' }
    const { session } = await own.sendWell(await own.start('login', started), LOGIN, headers)
    return session.devices
  }
  const PROXIES = { 'server-trusted-proxies': '10.0.0.0/8' }
  const FORWARDED = { 'x-forwarded-for': '6.6.6.6, 203.0.113.5, 10.0.0.9' }

  test('is that of the request that opened it', async () => {
    const agent = `Browser/${'9'.repeat(1000)}`
    const headers = { [PEER]: '2001:db8::7', 'user-agent': agent }
    const user_agent = agent.slice(0, 512)
    const device = { id: ID, ip_address: '2001:db8::7', user_agent, location: null }
    expect(await deviceOf({}, headers)).toEqual([device])
  })

  test.each([
    ['10.0.0.2', PROXIES, '203.0.113.5'],
    ['10.0.0.2', {}, '10.0.0.2'],
    ['198.51.100.1', PROXIES, '198.51.100.1'],
  ])('has the address that trusted proxies forward: %s', async (peer, flags, expected) => {
    const devices = await deviceOf(flags, { [PEER]: peer, ...FORWARDED })
    expect(devices[0].ip_address).toBe(expected)
  })
})

describe('webhooks', () => {
  test('are told of a sign-in, and of no other try', async () => {
    const { acme, ada } = await withAda()
    await using hooks = await listening(acme)
    await acme.tryPassword(ADA, 'wrong')
    await acme.tryPassword(BOB)
    expect(await hooks.events()).toEqual([])
    await acme.signIn(ADA.toUpperCase())
    expect(await hooks.events()).toStrictEqual([
      {
        event_id: ID,
        event_type: 'identity.login',
        tenant_id: acme.tenantId,
        created_at: isoAt(clock.now()),
        data: { identity_id: ada.id, payload: { email: ADA } },
      },
    ])
    await acme.setState(ada, 'inactive')
    await hooks.events()
    await acme.tryPassword(ADA)
    expect(await hooks.events()).toEqual([])
  })

  test('are told of a sign-in with two factors once it has both', async () => {
    const acme = await flows.newTenant({ mfa_enabled: true })
    const { session_token } = await acme.register(ADA)
    const secret = await acme.enrol(session_token)
    await using hooks = await listening(acme)
    clock.jump(MINUTE)
    const { session, continue_with } = await acme.signIn(ADA)
    expect([session.identity, await hooks.events()]).toEqual([null, []])
    const { body: second } = await acme.read(continue_with.at(-1).redirect_browser_to)
    await acme.sendWell(second, { method: 'totp', totp_code: totpAt(secret, clock.now()) })
    expect((await hooks.events()).map(({ event_type }) => event_type)).toEqual(['identity.login'])
  })
})
