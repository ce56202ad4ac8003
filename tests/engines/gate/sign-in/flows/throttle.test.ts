import { describe, expect, spyOn, test } from 'bun:test'
import type { Json } from '../../fixture.ts'
import { MINUTE, SECOND } from '../../identities/people.ts'
import { enrolled, halfway } from './acts.ts'
import { newBrowser } from './browser.ts'
import { bootChecked, type Checked, PEER, pretendPeers, saidIn } from './checked.ts'
import { flowParty, PASSWORD } from './fixture.ts'

const EMAIL = 'one@example.com'
const PER_IDENTIFIER = 'limits-sign-ins-per-identifier-per-minute'
const PER_ADDRESS = 'limits-sign-ins-per-minute'

/** A tenant with one person. */
async function bootThrottled(flags: Record<string, string> = {}) {
  const fixture = await bootChecked({ flags })
  pretendPeers(fixture.app)
  await addPerson(fixture, EMAIL)
  return fixture
}

const addPerson = ({ createIdentity }: Pick<Checked, 'createIdentity'>, email: string) =>
  createIdentity({
    traits: { email },
    credentials: { password: { config: { password: PASSWORD } } },
  })

type Fixture = Pick<Checked, 'start' | 'send'>

/** One try to sign in, in a flow of its own. */
const tryIn = async (
  fixture: Fixture,
  password: string,
  { identifier = EMAIL, from, ...headers }: Record<string, string> = {},
) =>
  fixture.send(
    await fixture.start('login'),
    { method: 'password', identifier, password },
    { ...(from !== undefined && { [PEER]: from }), ...headers },
  )

const statusOf = async (...of: Parameters<typeof tryIn>): Promise<number> =>
  (await tryIn(...of)).status

const wrongly = async (fixture: Fixture, times: number, by: Record<string, string> = {}) => {
  for (let tries = 0; tries < times; tries++) expect(await statusOf(fixture, 'wrong', by)).toBe(422)
}

describe('tries for one person', () => {
  test('are ten a minute; the next is not looked at, right or wrong', async () => {
    await using fixture = await bootThrottled()
    await wrongly(fixture, 10)
    const verify = spyOn(Bun.password, 'verify')
    try {
      for (const password of [PASSWORD, 'wrong']) {
        const answer = await tryIn(fixture, password)
        expect(answer.status).toBe(429)
        expect(answer.headers.get('retry-after')).toBe('6')
        expect(answer.body.state).toBe('choose_method')
        expect(answer.body.ui.messages).toEqual([
          {
            id: 4900002,
            text: expect.stringContaining('6 seconds'),
            type: 'error',
            context: { seconds: 6 },
          },
        ])
      }
      expect(verify).not.toHaveBeenCalled()
    } finally {
      verify.mockRestore()
    }
  })

  test('come back evenly, by the clock that nobody can set', async () => {
    await using fixture = await bootThrottled()
    await wrongly(fixture, 10)
    fixture.clock.jump(60 * MINUTE)
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
    await fixture.clock.advance(6 * SECOND - 1)
    const answer = await tryIn(fixture, PASSWORD)
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('1')
    await fixture.clock.advance(1)
    expect(await statusOf(fixture, 'wrong')).toBe(422)
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
    await fixture.clock.advance(6 * SECOND)
    expect(await statusOf(fixture, PASSWORD)).toBe(200)
    await fixture.clock.advance(MINUTE)
    await wrongly(fixture, 10)
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
  })

  test('are as many as is configured', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '2' })
    await wrongly(fixture, 2)
    const answer = await tryIn(fixture, PASSWORD)
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('30')
  })

  test('that are right cost none', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '3' })
    for (let signIns = 0; signIns < 8; signIns++)
      expect(await statusOf(fixture, PASSWORD)).toBe(200)
    await wrongly(fixture, 2)
    for (let signIns = 0; signIns < 4; signIns++)
      expect(await statusOf(fixture, PASSWORD)).toBe(200)
    await wrongly(fixture, 1)
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
  })

  test('count together in every spelling, from everywhere, in every flow', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '4' })
    await wrongly(fixture, 1, { identifier: ' ONE@example.com', from: '192.0.2.1' })
    await wrongly(fixture, 1, { identifier: 'One@Example.COM', from: '192.0.2.2' })
    const flow = await fixture.start('login')
    const fields = { method: 'password', identifier: EMAIL, password: 'wrong' }
    for (let tries = 0; tries < 2; tries++) {
      const { status } = await fixture.send(flow, fields, { [PEER]: '192.0.2.3' })
      expect(status).toBe(422)
    }
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.4' })).toBe(429)
  })

  test('count together when they come at once', async () => {
    await using fixture = await bootThrottled()
    const answers = await Promise.all(Array.from({ length: 15 }, () => statusOf(fixture, 'wrong')))
    expect(answers.sort()).toEqual([...Array(10).fill(422), ...Array(5).fill(429)])
  })

  test('count alike for people there are not', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '2' })
    for (const identifier of ['nobody@example.com', 'nobody', 'x'.repeat(4000)]) {
      await wrongly(fixture, 2, { identifier })
      expect(await statusOf(fixture, 'wrong', { identifier })).toBe(429)
    }
    expect(await statusOf(fixture, PASSWORD)).toBe(200)
  })

  test('count for themselves, and at their tenant', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '1' })
    const other = await flowParty(fixture.app)
    await addPerson(other, EMAIL)
    await addPerson(fixture, 'two@example.com')
    await wrongly(fixture, 1)
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
    expect(await statusOf(fixture, PASSWORD, { identifier: 'two@example.com' })).toBe(200)
    expect(await statusOf(other, PASSWORD)).toBe(200)
    await wrongly(other, 1)
    expect(await statusOf(other, PASSWORD)).toBe(429)
  })

  test('leave what somebody does in their settings alone, whatever is typed as an address', async () => {
    await using fixture = await bootThrottled()
    const { session_token, session } = await fixture.signIn(EMAIL)
    const { id } = session.identity
    for (const identifier of [`password of ${id}`, `addresses of ${id}`])
      await wrongly(fixture, 10, { identifier, from: '192.0.2.9' })
    const traits = { email: 'another@example.com' }
    const addressChange = await fixture.change(session_token, { method: 'profile', traits })
    expect(addressChange.status).toBe(200)
    const password = 'an entirely different one'
    const passwordChange = await fixture.change(session_token, { method: 'password', password })
    expect(passwordChange.status).toBe(200)
  })

  test('are no tries while something is missing from the form', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '1' })
    for (const fields of [
      { method: 'password', identifier: EMAIL },
      { method: 'password', identifier: EMAIL, password: 5 },
      { method: 'nonsense', identifier: EMAIL, password: 'x' },
    ])
      expect((await fixture.send(await fixture.start('login'), fields)).status).toBe(422)
    expect(await statusOf(fixture, PASSWORD)).toBe(200)
  })

  test('leave the flow open for later', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '1' })
    const flow = await fixture.start('login')
    const login = { method: 'password', identifier: EMAIL }
    expect((await fixture.send(flow, { ...login, password: 'wrong' })).status).toBe(422)
    expect((await fixture.send(flow, { ...login, password: PASSWORD })).status).toBe(429)
    await fixture.clock.advance(MINUTE)
    expect((await fixture.send(flow, { ...login, password: PASSWORD })).status).toBe(200)
  })

  test('count for somebody signed in as well', async () => {
    await using fixture = await bootThrottled({ [PER_IDENTIFIER]: '2' })
    const { session_token } = await fixture.signIn(EMAIL)
    const flow = await fixture.start('login', { 'x-session-token': session_token }, '?refresh=true')
    for (let tries = 0; tries < 2; tries++)
      expect((await fixture.send(flow, { password: 'wrong' })).status).toBe(422)
    expect((await fixture.send(flow, { password: PASSWORD })).status).toBe(429)
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
  })
})

describe('failures from one address', () => {
  const NOBODIES = Array.from({ length: 100 }, (_, at) => `nobody-${at}@example.com`)

  /** Fails for so many people, one after the other. */
  const failFrom = async (fixture: Fixture, from: string, times: number, offset = 0) => {
    for (const identifier of NOBODIES.slice(offset, offset + times))
      await wrongly(fixture, 1, { identifier, from })
  }

  test('are sixty a minute over all people; then nobody signs in from there', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '60' })
    await failFrom(fixture, '192.0.2.1', 60)
    const answer = await tryIn(fixture, PASSWORD, { from: '192.0.2.1' })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(saidIn(answer.body)).toEqual([4900002])
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.2' })).toBe(200)
    await fixture.clock.advance(SECOND - 1)
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.1' })).toBe(429)
    await fixture.clock.advance(1)
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.1' })).toBe(200)
  })

  test('are failures: whoever signs in well is in nobody’s way', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '2' })
    for (let signIns = 0; signIns < 6; signIns++)
      expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.1' })).toBe(200)
  })

  test('count together when they come at once, and no more are looked at', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '3' })
    const verify = spyOn(Bun.password, 'verify')
    try {
      const tries = NOBODIES.slice(0, 12).map((identifier) =>
        statusOf(fixture, 'wrong', { identifier, from: '192.0.2.1' }),
      )
      expect((await Promise.all(tries)).sort()).toEqual([
        ...Array(3).fill(422),
        ...Array(9).fill(429),
      ])
      expect(verify).toHaveBeenCalledTimes(3)
    } finally {
      verify.mockRestore()
    }
  })

  test('are no sign-ins that come at once and are right, which give back what they took', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '4' })
    const from = '192.0.2.1'
    for (let rounds = 0; rounds < 3; rounds++) {
      const tries = Array.from({ length: 4 }, () => statusOf(fixture, PASSWORD, { from }))
      expect(await Promise.all(tries)).toEqual(Array(4).fill(200))
    }
    await failFrom(fixture, from, 4)
    expect(await statusOf(fixture, PASSWORD, { from })).toBe(429)
  })

  test('are no tries that are put off for the person that they are for', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '3', [PER_IDENTIFIER]: '1' })
    const from = '192.0.2.1'
    await wrongly(fixture, 1, { from })
    for (let tries = 0; tries < 5; tries++)
      expect(await statusOf(fixture, PASSWORD, { from })).toBe(429)
    await failFrom(fixture, from, 2)
    expect(await statusOf(fixture, 'wrong', { from, identifier: 'x@example.com' })).toBe(429)
  })

  /** The same form to each of the flows at once, from one address. */
  const atOnce = async (fixture: Fixture, flows: Json[], fields: Json) => {
    const sent = flows.map((flow) => fixture.send(flow, fields, { [PEER]: '192.0.2.1' }))
    return (await Promise.all(sent)).map(({ status }) => status).sort()
  }

  test('count together when they come at once: codes from mails', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '1' })
    const asked = async (email: string) => {
      const { id: flow } = await fixture.start('recovery')
      const answer = await fixture.submit('recovery', { flow, method: 'code', email })
      expect(answer.status).toBe(200)
      return answer.body as Json
    }
    const right = await asked(EMAIL)
    const flows: Json[] = []
    for (const email of NOBODIES.slice(0, 20)) flows.push(await asked(email))

    expect(await atOnce(fixture, [right], { code: fixture.codeFor(EMAIL) })).toEqual([200])
    const wrong = await atOnce(fixture, flows, { code: 'wrong' })

    expect(wrong).toEqual([422, ...Array(19).fill(429)])
  })

  test('count together when they come at once: second factors', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '3' })
    await fixture.security({ mfa_enabled: true })
    await enrolled(fixture, 'two@example.com')
    const flows: Json[] = []
    for (let signIns = 0; signIns < 6; signIns++)
      flows.push((await halfway(fixture, 'two@example.com')).flow)

    const wrong = { method: 'lookup_secret', lookup_secret: 'zzzz-zzzz' }
    const statuses = await atOnce(fixture, flows, wrong)

    expect(statuses).toEqual([...Array(3).fill(422), ...Array(3).fill(429)])
  })

  test('count for the network of an IPv6 address', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '2' })
    await failFrom(fixture, '2001:db8:0:1::1', 1)
    await failFrom(fixture, '2001:db8:0:1:ffff::2', 1, 1)
    expect(await statusOf(fixture, PASSWORD, { from: '2001:0db8:0:1:9::3' })).toBe(429)
    expect(await statusOf(fixture, PASSWORD, { from: '2001:db8:0:2::1' })).toBe(200)
  })

  test('count for an IPv4 address in any dress, and for no neighbour', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '2' })
    await failFrom(fixture, '192.0.2.1', 1)
    await failFrom(fixture, '::ffff:192.0.2.1', 1, 1)
    expect(await statusOf(fixture, PASSWORD, { from: '::ffff:c000:201' })).toBe(429)
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.2' })).toBe(200)
  })

  test('count for the address that trusted proxies tell, and never for what others claim', async () => {
    const flags = { [PER_ADDRESS]: '2', 'server-trusted-proxies': '10.0.0.0/8' }
    await using fixture = await bootThrottled(flags)
    const by = (forwarded: string, from = '10.0.0.1') => ({ from, 'x-forwarded-for': forwarded })
    await wrongly(fixture, 1, { identifier: 'a@example.com', ...by('1.1.1.1, 203.0.113.5') })
    await wrongly(fixture, 1, { identifier: 'b@example.com', ...by('2.2.2.2, 203.0.113.5') })
    expect(await statusOf(fixture, PASSWORD, by('3.3.3.3, 203.0.113.5'))).toBe(429)
    expect(await statusOf(fixture, PASSWORD, by('203.0.113.6'))).toBe(200)

    await wrongly(fixture, 1, { identifier: 'c@example.com', ...by('4.4.4.4', '198.51.100.1') })
    await wrongly(fixture, 1, { identifier: 'd@example.com', ...by('5.5.5.5', '198.51.100.1') })
    expect(await statusOf(fixture, PASSWORD, by('6.6.6.6', '198.51.100.1'))).toBe(429)
  })

  test('that are no longer looked at cost nobody a try', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '1', [PER_IDENTIFIER]: '2' })
    await failFrom(fixture, '192.0.2.1', 1)
    for (let tries = 0; tries < 5; tries++)
      expect(await statusOf(fixture, 'wrong', { from: '192.0.2.1' })).toBe(429)
    expect(await statusOf(fixture, 'wrong', { from: '192.0.2.2' })).toBe(422)
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.3' })).toBe(200)
  })

  test('count together where no address is known', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '2' })
    await wrongly(fixture, 2, { identifier: 'a@example.com' })
    expect(await statusOf(fixture, PASSWORD)).toBe(429)
  })

  test('count for no server that shows a key of the tenant, which speaks for many', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '2', [PER_IDENTIFIER]: '3' })
    const authorization = `Bearer ${fixture.key}`
    const by = { from: '192.0.2.1', authorization }
    for (const identifier of NOBODIES.slice(0, 5)) await wrongly(fixture, 1, { identifier, ...by })
    expect(await statusOf(fixture, PASSWORD, by)).toBe(200)
    await wrongly(fixture, 3, by)
    expect(await statusOf(fixture, PASSWORD, by)).toBe(429)
  })
})

describe('what costs something each time', () => {
  const asFresh = (at: number): [kind: string, fields: Json][] => [
    [
      'registration',
      { method: 'password', traits: { email: `p-${at}@example.com` }, password: PASSWORD },
    ],
    ['registration', { method: 'code', traits: { email: `c-${at}@example.com` } }],
    ['login', { method: 'code', identifier: `l-${at}@example.com` }],
    ['recovery', { method: 'code', email: `r-${at}@example.com` }],
    ['verification', { method: 'code', email: `v-${at}@example.com` }],
  ]

  test.each(asFresh(0).map(([kind, fields], at) => [kind, fields.method, at] as const))(
    'counts for the address whatever comes of it: %s by %s',
    async (_kind, _method, at) => {
      await using fixture = await bootThrottled({ [PER_ADDRESS]: '2' })
      await fixture.security({ passwordless_enabled: true })
      const ask = async (times: number, from: string) => {
        const [kind, fields] = asFresh(times)[at] as [string, Json]
        return fixture.send(await fixture.start(kind), fields, { [PEER]: from })
      }
      for (const times of [1, 2]) expect((await ask(times, '192.0.2.1')).status).toBe(200)
      const answer = await ask(3, '192.0.2.1')
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('30')
      expect(saidIn(answer.body)).toEqual([4900002])
      expect((await ask(4, '192.0.2.2')).status).toBe(200)
      await fixture.clock.advance(30 * SECOND)
      expect((await ask(5, '192.0.2.1')).status).toBe(200)
    },
  )

  test('counts for no server that shows a key of the tenant, which speaks for many', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '1' })
    const headers = { [PEER]: '192.0.2.1' }
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
      const { id: flow } = await fixture.start('recovery')
      const fields = { flow, method: 'code', email }
      expect((await fixture.submit('recovery', fields, headers)).status).toBe(200)
    }
    const traits = { email: 'd@example.com' }
    const fields = { method: 'password', traits, password: PASSWORD }
    const signUp = await fixture.send(await fixture.start('registration'), fields, {
      ...headers,
      authorization: `Bearer ${fixture.key}`,
    })
    expect(signUp.status).toBe(200)
  })

  test('counts together with failures to sign in', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '2' })
    await wrongly(fixture, 1, { from: '192.0.2.1' })
    const recovery = await fixture.start('recovery')
    const fields = { method: 'code', email: EMAIL }
    expect((await fixture.send(recovery, fields, { [PEER]: '192.0.2.1' })).status).toBe(200)
    expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.1' })).toBe(429)
  })

  test('counts for nobody while the form is not even filled in', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '1' })
    const headers = { [PEER]: '192.0.2.1' }
    const flow = await fixture.start('registration')
    for (const fields of [
      {},
      { method: 'password', traits: { email: 'x' }, password: PASSWORD },
      { method: 'password', traits: { email: 'new@example.com' }, password: 'short' },
    ])
      expect((await fixture.send(flow, fields, headers)).status).toBe(422)
    const good = { method: 'password', traits: { email: 'new@example.com' }, password: PASSWORD }
    expect((await fixture.send(flow, good, headers)).status).toBe(200)
  })

  test('makes nothing of what is refused', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '1' })
    await wrongly(fixture, 1, { from: '192.0.2.1' })
    const fields = { method: 'password', traits: { email: 'new@example.com' }, password: PASSWORD }
    const answer = await fixture.send(await fixture.start('registration'), fields, {
      [PEER]: '192.0.2.1',
    })
    expect(answer.status).toBe(429)
    const { body } = await fixture.api.get('/v1/gate/identities?email=new@example.com')
    expect(body.data).toEqual([])
  })
})

test('looking at flows is no try', async () => {
  await using fixture = await bootThrottled({ [PER_ADDRESS]: '1', [PER_IDENTIFIER]: '1' })
  const flow = await fixture.start('login')
  const headers = { [PEER]: '192.0.2.1' }
  for (let looks = 0; looks < 20; looks++) {
    const { status } = await fixture.app.raw(`/auth/self-service/login?flow=${flow.id}`, {
      headers,
    })
    expect(status).toBe(200)
  }
  expect(await statusOf(fixture, PASSWORD, { from: '192.0.2.1' })).toBe(200)
})

describe('changes by somebody signed in', () => {
  const LIMIT = 5

  /** Rows written, changed and deleted since the database was opened. */
  const writes = ({ app }: Pick<Checked, 'app'>) =>
    app.db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n

  test('are so many a minute from one address: steps of one flow', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: `${LIMIT}` })
    const { session_token } = await fixture.signIn(EMAIL)
    await fixture.security({ mfa_enabled: true })
    await fixture.enrol(session_token)
    await fixture.clock.advance(MINUTE)
    const flow = await fixture.settings(session_token)
    const step = () => fixture.send(flow, { lookup_secret_regenerate: 'true' })
    for (let n = 0; n < LIMIT; n++) expect((await step()).status).toBe(200)
    const before = writes(fixture)
    const refused = await step()
    expect([refused.status, saidIn(refused.body), writes(fixture)]).toEqual([
      429,
      [4900002],
      before,
    ])
    await fixture.clock.advance(MINUTE)
    expect((await step()).status).toBe(200)
  })

  test('are so many a minute from one address: pages, each of which begins a flow', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: `${LIMIT}` })
    const { session_token } = await fixture.signIn(EMAIL)
    const { hosted_url } = await fixture.settings(session_token)
    const browser = newBrowser(fixture.app)
    let page = await browser.visit(hosted_url)
    await fixture.clock.advance(MINUTE)
    for (let n = 0; n < LIMIT; n++)
      page = await browser.follow(await browser.press(page, ['method', 'profile']))
    const before = writes(fixture)
    const refused = await browser.press(page, ['method', 'profile'])
    expect([refused.status, writes(fixture)]).toEqual([429, before])
  })

  test('are without end for a server with its key', async () => {
    await using fixture = await bootThrottled({ [PER_ADDRESS]: '1' })
    const { session_token } = await fixture.signIn(EMAIL)
    for (let n = 0; n < 5; n++) {
      const { id: flow } = await fixture.settings(session_token)
      const fields = { flow, method: 'profile', traits: { email: EMAIL, custom_data: { n } } }
      const answer = await fixture.submit('settings', fields, { 'x-session-token': session_token })
      expect(answer.status).toBe(200)
    }
  })
})
