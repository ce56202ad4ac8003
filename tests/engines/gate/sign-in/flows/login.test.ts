import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { count, type Json, plain } from '../../fixture.ts'
import { DAY, HOUR, ID, MINUTE, SECOND } from '../../identities/people.ts'
import {
  bootChecked,
  type Checked,
  listening,
  PEER,
  pretendPeers,
  saidIn,
  steady,
} from './checked.ts'
import { csrfOf, flowParty, PASSWORD, pathOf, totpAt } from './fixture.ts'
import { holdPasswords, untilIt } from './held-passwords.ts'

const isoAt = (ms: number) => new Date(ms).toISOString()

let fixture: Checked
beforeAll(async () => {
  fixture = await bootChecked({ flags: { 'limits-sign-ins-per-identifier-per-minute': '1000000' } })
})
afterAll(() => fixture[Symbol.asyncDispose]())

let people = 0
const newEmail = () => `person-${people++}@example.com`

/** Somebody new with a password. */
async function somebody(fields: Json = {}): Promise<Json> {
  const { traits, ...others } = fields
  return fixture.createIdentity({
    traits: { email: newEmail(), ...traits },
    credentials: { password: { config: { password: PASSWORD } } },
    ...others,
  })
}

const emailOf = ({ traits }: Json): string => traits.email

const storedHash = ({ id }: Json): string =>
  (
    fixture.app.db.client
      .query(
        "select config ->> 'hashed_password' as hash from gate_credentials where identity_id = ? and type = 'password'",
      )
      .get(id) as { hash: string }
  ).hash

const sessionsOf = async ({ id }: Json): Promise<Json[]> =>
  (await fixture.api.get(`/v1/gate/identities/${id}/sessions`)).body

describe('the right password', () => {
  test('opens a session, whose token is answered with this once', async () => {
    const person = await somebody()
    const now = fixture.clock.now()
    const { status, body } = await fixture.tryPassword(emailOf(person))
    expect(status).toBe(200)
    const { credentials: _, ...identity } = await fixture.readIdentity(person)
    const { session_token: token, session } = body
    expect(token).toMatch(/^gat_st_[0-9A-Za-z]{43}$/)
    expect(body).toStrictEqual({
      session_token: token,
      session: {
        id: ID,
        token,
        active: true,
        issued_at: isoAt(now),
        expires_at: isoAt(now + DAY),
        authenticated_at: isoAt(now),
        authenticator_assurance_level: 'aal1',
        authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: isoAt(now) }],
        devices: [{ id: session.id, ip_address: null, user_agent: null, location: null }],
        identity,
      },
      continue_with: [{ action: 'set_ory_session_token', ory_session_token: token }],
    })
    const { token: _token, ...shown } = session
    expect((await fixture.whoami(token)).body).toEqual(shown)
    const { identity: _identity, ...listed } = shown
    expect(await sessionsOf(person)).toEqual([listed])
  })

  test('opens one more session each time, and ends none', async () => {
    const person = await somebody()
    const signIns = [await fixture.signIn(emailOf(person)), await fixture.signIn(emailOf(person))]
    const tokens = signIns.map(({ session_token }) => session_token)
    expect(new Set(tokens).size).toBe(2)
    for (const token of tokens) expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    expect(await sessionsOf(person)).toHaveLength(2)
  })

  test.each([
    ['one@bücher.example', 'One@BÜCHER.example'],
    ['two@bücher.example', ' two@xn--bcher-kva.example\n'],
    ['three@example.com', '\tTHREE@EXAMPLE.COM '],
    ['vier-ä@example.com', 'VIER-A\u0308@example.com'],
    ['σίσυφος@example.com', 'ΣΊΣΥΦΟΣ@example.com'],
  ])('goes with the address in any spelling: %s', async (email, spelled) => {
    await somebody({ traits: { email } })
    expect(await fixture.tryPassword(spelled)).toMatchObject({
      status: 200,
      body: {
        session: { identity: { traits: { email: email.normalize('NFC').replace('ς', 'σ') } } },
      },
    })
  })

  test('needs no method beside it', async () => {
    const identifier = emailOf(await somebody())
    const flow = await fixture.start('login')
    expect((await fixture.send(flow, { identifier, password: PASSWORD })).status).toBe(200)
  })

  test('goes with the old name of the field for the address too', async () => {
    const password_identifier = emailOf(await somebody())
    const flow = await fixture.start('login')
    const fields = { method: 'password', password_identifier, password: PASSWORD }
    expect((await fixture.send(flow, fields)).status).toBe(200)
  })

  /** No two parts of it alike. */
  const ofCharacters = (count: number, sign: string) =>
    [...Array.from({ length: count }, (_, at) => `${at}${sign}`).join('')].slice(0, count).join('')

  test.each([
    ['short', 'kqzv8wjx'],
    ['of other letters', 'pässwörd mit Umlaut'],
    ['with blanks around it', '  blanks around it  '],
    ['with signs of all kinds', '"\\/\u0001\u2028 <script>'],
    ['as long as it may be', ofCharacters(1024, 'x')],
    ['as long as it may be, of large characters', ofCharacters(1024, '🐎')],
  ])('is whatever one has signed up with: %s', async (_, password) => {
    const email = newEmail()
    await fixture.register(email, password)
    expect((await fixture.tryPassword(email, password)).status).toBe(200)
  })

  test('is the one at this tenant', async () => {
    const other = await flowParty(fixture.app)
    const email = newEmail()
    await fixture.register(email, 'the one at acme 1')
    await other.register(email, 'the other one 22')
    const here = await fixture.signIn(email, 'the one at acme 1')
    const there = await other.signIn(email, 'the other one 22')
    expect(here.session.identity.id).not.toBe(there.session.identity.id)
    expect(here.session.identity.traits.tenant_id).toBe(fixture.tenantId)
    expect(await fixture.tryPassword(email, 'the other one 22')).toMatchObject({ status: 422 })
    expect(await other.tryPassword(email, 'the one at acme 1')).toMatchObject({ status: 422 })
  })
})

describe('anything else', () => {
  test.each([
    ['in capitals', PASSWORD.toUpperCase()],
    ['with a blank behind', `${PASSWORD} `],
    ['without its end', PASSWORD.slice(0, -1)],
    ['with more at its end', `${PASSWORD}y`],
    ['longer than passwords are', 'x'.repeat(1025)],
    ['longer than that, and right at first', PASSWORD.padEnd(2000, 'x')],
    ['nothing that one sees', '\u200b'],
  ])('is wrong: the password %s', async (_, password) => {
    const { status, body } = await fixture.tryPassword(emailOf(await somebody()), password)
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4000006])
    expect(body.ui.messages[0].type).toBe('error')
  })

  test('is wrong: the same letters in another composition', async () => {
    const email = newEmail()
    await fixture.register(email, 'pässwörter sind lang')
    const apart = 'pässwörter sind lang'.normalize('NFD')
    expect((await fixture.tryPassword(email, apart)).status).toBe(422)
  })

  /** How a sign-in with the wrong password ends for various people. */
  async function refusals() {
    const other = await flowParty(fixture.app)
    const elsewhere = newEmail()
    await other.register(elsewhere)
    const without = await fixture.createIdentity({ traits: { email: newEmail() } })
    const inactive = await somebody()
    await fixture.setState(inactive, 'inactive')
    const deleted = await somebody()
    await fixture.api.delete(`/v1/gate/identities/${deleted.id}`)
    return {
      known: emailOf(await somebody()),
      unknown: newEmail(),
      'without a password': emailOf(without),
      inactive: emailOf(inactive),
      deleted: emailOf(deleted),
      'of another tenant': elsewhere,
    }
  }

  test('is answered alike for everybody, to the byte', async () => {
    const identifiers = await refusals()
    const answers: Record<string, Json> = {}
    for (const [who, identifier] of Object.entries(identifiers))
      answers[who] = steady(await fixture.tryPassword(identifier, 'not the password'), identifier)
    const { known, ...others } = answers
    expect(known).toMatchObject({ status: 422 })
    expect(known.body).toContain('4000006')
    for (const [who, answer] of Object.entries(others)) expect(answer, who).toEqual(known)
  })

  test('takes the same work for everybody', async () => {
    const identifiers = { ...(await refusals()), 'no address': 'nobody' }
    const verify = spyOn(Bun.password, 'verify')
    try {
      for (const [who, identifier] of Object.entries(identifiers)) {
        verify.mockClear()
        await fixture.tryPassword(identifier, 'not the password')
        const work = verify.mock.calls.map(([password, hash]) => [
          password,
          `${hash}`.replace(/[^$]+\$[^$]+$/, ''),
        ])
        expect(work, who).toEqual([['not the password', '$argon2id$v=19$m=8192,t=1,p=1$']])
      }
    } finally {
      verify.mockRestore()
    }
  })

  test('opens nothing, and the same flow can be tried again', async () => {
    const person = await somebody()
    const flow = await fixture.start('login')
    const login = { method: 'password', identifier: emailOf(person) }
    const before = count(fixture.app, 'gate_sessions')
    for (let tries = 0; tries < 3; tries++)
      expect((await fixture.send(flow, { ...login, password: 'wrong' })).status).toBe(422)
    expect(count(fixture.app, 'gate_sessions')).toBe(before)
    expect((await fixture.send(flow, { ...login, password: PASSWORD })).status).toBe(200)
  })
})

describe('somebody deactivated', () => {
  test('is told so with the right password alone', async () => {
    const person = await somebody()
    await fixture.setState(person, 'inactive')
    const wrong = await fixture.tryPassword(emailOf(person), 'wrong')
    expect(saidIn(wrong.body)).toEqual([4000006])
    const right = await fixture.tryPassword(emailOf(person))
    expect(right.status).toBe(422)
    expect(saidIn(right.body)).toEqual([4010011])
    expect(await sessionsOf(person)).toEqual([])
  })

  test('signs in again once they are active again', async () => {
    const person = await somebody()
    await fixture.setState(person, 'inactive')
    await fixture.tryPassword(emailOf(person))
    await fixture.setState(person, 'active')
    expect((await fixture.tryPassword(emailOf(person))).status).toBe(200)
  })

  test('can go on in the flow that refused them, if they are activated in time', async () => {
    const person = await somebody()
    await fixture.setState(person, 'inactive')
    const flow = await fixture.start('login')
    const login = { method: 'password', identifier: emailOf(person), password: PASSWORD }
    expect((await fixture.send(flow, login)).status).toBe(422)
    await fixture.setState(person, 'active')
    expect((await fixture.send(flow, login)).status).toBe(200)
  })
})

describe('while a password is being looked at', () => {
  /** A right password is on its way when `meanwhile` happens. */
  async function signInDuring(person: Json, meanwhile: () => unknown) {
    const flow = await fixture.start('login')
    const login = { method: 'password', identifier: emailOf(person), password: PASSWORD }
    using passwords = holdPasswords()
    const sent = fixture.send(flow, login)
    await untilIt(() => passwords.begun() === 1)
    await meanwhile()
    passwords.release()
    return sent
  }

  test('nothing happens, and it is good', async () => {
    expect((await signInDuring(await somebody(), () => {})).status).toBe(200)
  })

  test('it may be changed, and is no longer the right one', async () => {
    const person = await somebody()
    const another = storedHash(await somebody())
    const { status, body } = await signInDuring(person, () =>
      fixture.app.db.client.run(
        "update gate_credentials set config = json_object('hashed_password', ?) where identity_id = ?",
        [another, person.id],
      ),
    )
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4000006])
    expect(await sessionsOf(person)).toEqual([])
  })

  test('its owner may be deleted, and is as unknown as anybody', async () => {
    const person = await somebody()
    const before = count(fixture.app, 'gate_sessions')
    const { status, body } = await signInDuring(person, () =>
      fixture.api.delete(`/v1/gate/identities/${person.id}`),
    )
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4000006])
    expect(count(fixture.app, 'gate_sessions')).toBe(before)
  })

  test('its owner may be deactivated, and is not let in', async () => {
    const person = await somebody()
    const { status, body } = await signInDuring(person, () => fixture.setState(person, 'inactive'))
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4010011])
    await fixture.setState(person, 'active')
    expect(await sessionsOf(person)).toEqual([])
  })

  test('its owner may have signed in elsewhere, which is no matter', async () => {
    const person = await somebody()
    expect((await signInDuring(person, () => fixture.openSession(person))).status).toBe(200)
    expect(await sessionsOf(person)).toHaveLength(2)
  })

  test('the flow may expire, and nobody is signed in by it', async () => {
    await using own = await bootChecked()
    await own.register('one@example.com')
    const flow = await own.start('login')
    using passwords = holdPasswords()
    const login = { method: 'password', identifier: 'one@example.com', password: PASSWORD }
    const sent = own.send(flow, login)
    await untilIt(() => passwords.begun() === 1)
    own.clock.jump(HOUR)
    const before = count(own.app, 'gate_sessions')
    passwords.release()
    const { status, body } = await sent
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4010001])
    expect(count(own.app, 'gate_sessions')).toBe(before)
  })
})

describe('a flow', () => {
  const login = (person: Json) => ({
    method: 'password',
    identifier: emailOf(person),
    password: PASSWORD,
  })

  test('signs in once: of two right forms at once, one opens a session', async () => {
    const person = await somebody()
    const flow = await fixture.start('login')
    const answers = await Promise.all([
      fixture.send(flow, login(person)),
      fixture.send(flow, login(person)),
      fixture.send(flow, login(person)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422])
    for (const { body } of answers.filter(({ status }) => status === 422)) {
      expect(saidIn(body)).toEqual([4010007])
      expect(JSON.stringify(body)).not.toContain('gat_st_')
    }
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  test('signs in one of two people at once', async () => {
    const [one, two] = [await somebody(), await somebody()]
    const flow = await fixture.start('login')
    const answers = await Promise.all([
      fixture.send(flow, login(one)),
      fixture.send(flow, login(two)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect([...(await sessionsOf(one)), ...(await sessionsOf(two))]).toHaveLength(1)
  })

  test('is over then, whatever is sent to it', async () => {
    const person = await somebody()
    const flow = await fixture.start('login')
    await fixture.sendWell(flow, login(person))
    using passwords = holdPasswords()
    for (const fields of [
      login(person),
      { ...login(person), password: 'wrong' },
      { method: 'code', identifier: emailOf(person) },
      { method: 'nonsense' },
      {},
    ]) {
      const { status, body } = await fixture.send(flow, fields)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4010007])
      expect(body).toMatchObject({ id: flow.id, state: 'passed_challenge' })
    }
    expect(passwords.begun()).toBe(0)
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  test('does not end another', async () => {
    const person = await somebody()
    const flows = [await fixture.start('login'), await fixture.start('login')]
    const answers = await Promise.all(flows.map((flow) => fixture.send(flow, login(person))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('a hash that was made elsewhere', () => {
  const BCRYPT = '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'
  const OF_BCRYPT = 'correct horse batterÿ 🐎'
  const OURS = /^\$argon2id\$v=19\$m=8192,t=1,p=1\$/

  const imported = () =>
    somebody({ credentials: { password: { config: { hashed_password: BCRYPT } } } })

  test('is made anew at a sign-in, with the same password', async () => {
    const person = await imported()
    expect(storedHash(person)).toBe(BCRYPT)
    expect((await fixture.tryPassword(emailOf(person), OF_BCRYPT)).status).toBe(200)
    const renewed = storedHash(person)
    expect(renewed).toMatch(OURS)
    expect((await fixture.tryPassword(emailOf(person), OF_BCRYPT)).status).toBe(200)
    expect(storedHash(person)).toBe(renewed)
    expect((await fixture.tryPassword(emailOf(person), PASSWORD)).status).toBe(422)
  })

  test('is made anew where ours was made at another cost', async () => {
    const dear = await Bun.password.hash(PASSWORD, {
      algorithm: 'argon2id',
      memoryCost: 9216,
      timeCost: 2,
    })
    const config = { hashed_password: dear }
    const person = await somebody({ credentials: { password: { config } } })
    expect((await fixture.tryPassword(emailOf(person))).status).toBe(200)
    expect(storedHash(person)).toMatch(OURS)
  })

  test('stays as it is when nobody is signed in', async () => {
    const person = await imported()
    await fixture.tryPassword(emailOf(person), 'wrong')
    await fixture.setState(person, 'inactive')
    const answer = await fixture.tryPassword(emailOf(person), OF_BCRYPT)
    expect(saidIn(answer.body)).toEqual([4010011])
    expect(storedHash(person)).toBe(BCRYPT)
  })

  test('stays as it is, and lets its owner in, while no hash can be made', async () => {
    const person = await imported()
    const busy = Object.assign(new Error('busy'), { kind: 'unavailable' })
    const hash = spyOn(Bun.password, 'hash').mockRejectedValue(busy)
    try {
      expect((await fixture.tryPassword(emailOf(person), OF_BCRYPT)).status).toBe(200)
      expect(hash).toHaveBeenCalledTimes(1)
      expect(storedHash(person)).toBe(BCRYPT)
    } finally {
      hash.mockRestore()
    }
    expect((await fixture.tryPassword(emailOf(person), OF_BCRYPT)).status).toBe(200)
    expect(storedHash(person)).toMatch(OURS)
  })

  test('is not made anew over a password that was changed meanwhile', async () => {
    const person = await imported()
    const another = storedHash(await somebody())
    const flow = await fixture.start('login')
    using passwords = holdPasswords()
    const fields = { method: 'password', identifier: emailOf(person), password: OF_BCRYPT }
    const sent = fixture.send(flow, fields)
    await untilIt(() => passwords.begun() === 1)
    fixture.app.db.client.run(
      "update gate_credentials set config = json_object('hashed_password', ?) where identity_id = ?",
      [another, person.id],
    )
    passwords.release()
    expect((await sent).status).toBe(422)
    expect(storedHash(person)).toBe(another)
  })
})

describe('more passwords than can be looked at', () => {
  const WORKERS = Math.max(2, availableParallelism())
  /** With one that waits. */
  const AT_ONCE = WORKERS + 1

  test('are refused, to come again soon, and count for nothing', async () => {
    const limit = AT_ONCE + 1
    await using own = await bootChecked({
      flags: {
        'gate-password-queue': '1',
        'limits-sign-ins-per-identifier-per-minute': `${limit}`,
      },
    })
    const login = { method: 'password', identifier: 'nobody@example.com', password: 'wrong' }
    const flows = await Promise.all(Array.from({ length: limit }, () => own.start('login')))
    using passwords = holdPasswords()
    const answers: Json[] = []
    const sent = flows.map(async (flow) => void answers.push(await own.send(flow, login)))
    await untilIt(() => answers.length > 0)
    const [refused] = answers
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused).toMatchObject(plain(503, 'too many passwords'))
    passwords.release()
    await Promise.all(sent)
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(AT_ONCE).fill(422), 503])

    const again = async () => (await own.send(await own.start('login'), login)).status
    expect(await again()).toBe(422)
    expect(await again()).toBe(429)
  })

  test('leave the flow as it was', async () => {
    await using own = await bootChecked({ flags: { 'gate-password-queue': '1' } })
    await own.register('one@example.com')
    const others = await Promise.all(Array.from({ length: AT_ONCE + 1 }, () => own.start('login')))
    const flow = await own.start('login')
    const login = { method: 'password', identifier: 'one@example.com', password: PASSWORD }
    using passwords = holdPasswords()
    const first = others.map((other) => own.send(other, login))
    expect((await Promise.race(first)).status).toBe(503)
    expect((await own.send(flow, login)).status).toBe(503)
    expect((await own.app.raw(pathOf(flow.ui.action))).body).toEqual(flow)
    passwords.release()
    const statuses = (await Promise.all(first)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([...Array(AT_ONCE).fill(200), 503])
    expect((await own.send(flow, login)).status).toBe(200)
  })

  test('of one tenant are refused there alone: who signs in with another has the next processor that is free', async () => {
    await using own = await bootChecked({ flags: { 'gate-password-queue': '4' } })
    const other = await flowParty(own.app)
    await other.register('one@example.com')
    using passwords = holdPasswords()
    const attempts = Array.from({ length: WORKERS + 6 }, (_, n) =>
      own.tryPassword(`nobody-${n}@example.com`, `attack ${n}`),
    )
    expect((await Promise.race(attempts)).status).toBe(503)
    const signIn = other.tryPassword('one@example.com')
    // Starts after the sign-in was taken in, and takes more turns than that.
    for (let n = 0; n < 3; n++) await other.start('login')
    passwords.releaseFirst()
    await untilIt(() => passwords.begun() > WORKERS)

    expect(passwords.passwords()[WORKERS]).toBe(PASSWORD)
    passwords.release()
    expect((await signIn).status).toBe(200)
    await Promise.all(attempts)
  })
})

describe('a sign-in of somebody signed in', () => {
  const again = (token: string) =>
    fixture.start('login', { 'x-session-token': token }, '?refresh=true')

  test('makes the session recent, and no other one', async () => {
    const person = await somebody()
    const { session_token: token, session } = await fixture.signIn(emailOf(person))
    fixture.clock.jump(3 * HOUR)
    const now = fixture.clock.now()
    const done = await fixture.sendWell(await again(token), {
      method: 'password',
      password: PASSWORD,
    })
    expect(done.session_token).toBe(token)
    expect(done.session).toStrictEqual({
      ...session,
      authenticated_at: isoAt(now),
      authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: isoAt(now) }],
    })
    expect(await sessionsOf(person)).toHaveLength(1)
  })

  test('is no sign-in of somebody else', async () => {
    const [one, two] = [await somebody(), await somebody()]
    const { session_token: token } = await fixture.signIn(emailOf(one))
    const others = 'the password of two 2'
    await fixture.api.delete(`/v1/gate/identities/${two.id}`)
    await fixture.register(emailOf(two), others)
    const flow = await again(token)
    const fields = { method: 'password', identifier: emailOf(two) }
    const refused = await fixture.send(flow, { ...fields, password: others })
    expect(refused.status).toBe(422)
    expect(saidIn(refused.body)).toContain(4000006)
    const done = await fixture.send(flow, { ...fields, password: PASSWORD })
    expect(done.body?.session.identity.id).toBe(one.id)
  })

  test('is none of a session that has ended since', async () => {
    const person = await somebody()
    const { session_token: token, session } = await fixture.signIn(emailOf(person))
    const flow = await again(token)
    await fixture.api.delete(`/v1/gate/sessions/${session.id}`)
    const answer = await fixture.send(flow, { method: 'password', password: PASSWORD })
    expect(answer).toMatchObject({ status: 401, body: { id: 'session_inactive' } })
    expect(await sessionsOf(person)).toEqual([])
  })
})

describe('the device of a session', () => {
  test('is as the request that opened it', async () => {
    await using own = await bootChecked()
    pretendPeers(own.app)
    await own.register('one@example.com')
    const flow = await own.start('login', { [PEER]: '192.0.2.1', 'user-agent': 'the server' })
    const headers = { [PEER]: '2001:db8::7', 'user-agent': `Browser/${'9'.repeat(1000)}` }
    const login = { method: 'password', identifier: 'one@example.com', password: PASSWORD }
    const { session } = await own.sendWell(flow, login, headers)
    expect(session.devices).toEqual([
      {
        id: ID,
        ip_address: '2001:db8::7',
        user_agent: headers['user-agent'].slice(0, 512),
        location: null,
      },
    ])
  })

  test('has the address that the proxies in front tell, and no others', async () => {
    const signedInBy = async (flags: Record<string, string>, headers: Record<string, string>) => {
      await using own = await bootChecked({ flags })
      pretendPeers(own.app)
      await own.register('one@example.com')
      const login = { method: 'password', identifier: 'one@example.com', password: PASSWORD }
      const { session } = await own.sendWell(await own.start('login'), login, headers)
      return session.devices[0].ip_address
    }
    const proxied = { [PEER]: '10.0.0.2', 'x-forwarded-for': '6.6.6.6, 203.0.113.5, 10.0.0.9' }
    expect(await signedInBy({ 'server-trusted-proxies': '10.0.0.0/8' }, proxied)).toBe(
      '203.0.113.5',
    )
    expect(await signedInBy({}, proxied)).toBe('10.0.0.2')
    const stranger = { ...proxied, [PEER]: '198.51.100.1' }
    expect(await signedInBy({ 'server-trusted-proxies': '10.0.0.0/8' }, stranger)).toBe(
      '198.51.100.1',
    )
  })
})

describe('webhooks', () => {
  test('are told of a sign-in with the session that it opened, and of no other try', async () => {
    await using own = await bootChecked()
    const { identity } = await own.register('one@example.com')
    await using hooks = await listening(own)
    own.clock.jump(MINUTE)
    await own.tryPassword('one@example.com', 'wrong')
    await own.tryPassword('nobody@example.com')
    expect(await hooks.events()).toEqual([])
    const signedIn = await own.tryPassword('One@Example.com')
    expect(signedIn.status).toBe(200)
    expect(await hooks.events()).toStrictEqual([
      {
        event_id: ID,
        event_type: 'identity.login',
        tenant_id: own.tenantId,
        created_at: isoAt(own.clock.now()),
        data: { identity_id: identity.id, payload: { email: 'one@example.com' } },
      },
    ])
    await own.setState(identity, 'inactive')
    await hooks.events()
    await own.tryPassword('one@example.com')
    expect(await hooks.events()).toEqual([])
  })

  test('are told once of two right forms at once', async () => {
    await using own = await bootChecked()
    await own.register('one@example.com')
    await using hooks = await listening(own)
    const flow = await own.start('login')
    const login = { method: 'password', identifier: 'one@example.com', password: PASSWORD }
    await Promise.all([own.send(flow, login), own.send(flow, login)])
    expect(await hooks.events()).toHaveLength(1)
  })

  test('are told of a sign-in that takes two factors when it has both', async () => {
    await using own = await bootChecked()
    await own.security({ mfa_enabled: true })
    const { session_token } = await own.register('one@example.com')
    const secret = await own.enrol(session_token)
    await using hooks = await listening(own)
    own.clock.jump(MINUTE)
    const { session, continue_with } = await own.signIn('one@example.com')
    expect(session.identity).toBeNull()
    expect(await hooks.events()).toEqual([])
    const { redirect_browser_to } = continue_with.at(-1)
    const second = (await own.read(redirect_browser_to)).body
    await own.sendWell(second, { method: 'totp', totp_code: totpAt(secret, own.clock.now()) })
    const events = await hooks.events()
    expect(events.map(({ event_type }) => event_type)).toEqual(['identity.login'])
  })

  test('are not told again when somebody signed in shows once more who they are', async () => {
    await using own = await bootChecked()
    const { session_token } = await own.register('one@example.com')
    await using hooks = await listening(own)
    own.clock.jump(SECOND)
    const flow = await own.start('login', { 'x-session-token': session_token }, '?refresh=true')
    await own.sendWell(flow, { method: 'password', password: PASSWORD })
    expect(await hooks.events()).toEqual([])
  })
})

test('a form in the body brings the same as JSON', async () => {
  const person = await somebody()
  const flow = await fixture.start('login')
  const { status, body } = await fixture.app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      csrf_token: csrfOf(flow),
      method: 'password',
      identifier: emailOf(person),
      password: PASSWORD,
    }).toString(),
  })
  expect(status).toBe(200)
  expect(body.session.identity.id).toBe(person.id)
})
