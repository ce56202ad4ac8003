import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import { URI } from 'otpauth'
import decodeQR from 'qr/decode.js'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import { type Json, MINUTE, SESSIONS } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith, typesTold } from '../../identities/people.ts'
import {
  bootFactors,
  CODES,
  complains,
  enrolled,
  halfway,
  nextCode,
  read,
  recoveryCodes,
  refuses,
  STEP,
  sessionOf,
  withToken,
  wrongCode,
} from './acts.ts'
import {
  type FlowFixture,
  flowParty,
  messageIds,
  node,
  nodeNames,
  PASSWORD,
  totpAt,
} from './fixture.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFactors()
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
beforeEach(() => {
  email = `factor-${people++}@example.com`
  // Nobody's code of the test before is still shown.
  fixture.clock.jump(MINUTE)
})

const totp = (totp_code: unknown) => ({ method: 'totp', totp_code })
const secretIn = (flow: Json): string =>
  node(flow, 'totp_secret_key').attributes.text.context.secret

/** What a camera reads from a picture of one bit a pixel. */
function readPicture(url: string): string {
  const png = Buffer.from(url.replace('data:image/png;base64,', ''), 'base64')
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const at = png.indexOf('IDAT')
  const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)))
  const pitch = Math.ceil(width / 8) + 1
  const data = Array.from({ length: width * height }, (_, n) => {
    const [x, y] = [n % width, Math.floor(n / width)]
    const byte = lines[y * pitch + 1 + (x >> 3)] as number
    return byte & (0x80 >> (x & 7)) ? 255 : 0
  }).flatMap((shade) => [shade, shade, shade])
  const image = { width, height, data: Uint8Array.from(data) }
  return decodeQR(image, { format: 'RGB', effort: Number.POSITIVE_INFINITY, timeLimit: 60_000 })
}

describe('an authenticator is set up', () => {
  test('from a picture and a key that say the same', async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.settings(session_token)

    const { src, width, height } = node(flow, 'totp_qr').attributes
    expect({ width, height }).toEqual({ width: 256, height: 256 })
    expect(src).toStartWith('data:image/png;base64,')
    const uri = URI.parse(readPicture(src))
    expect(uri).toMatchObject({
      issuer: 'Acme',
      label: email,
      algorithm: 'SHA1',
      digits: 6,
      period: 30,
    })
    expect(uri.secret.base32).toBe(secretIn(flow))
    expect(secretIn(flow)).toMatch(/^[A-Z2-7]{32}$/)
  })

  test('with nodes for it, none of them filled in', async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.settings(session_token)
    expect(nodeNames(flow).filter((name) => /totp|lookup/.test(name))).toEqual([
      'totp:totp_qr',
      'totp:totp_secret_key',
      'totp:totp_code',
      'totp:method=totp',
      'lookup_secret:lookup_secret_regenerate=true',
    ])
    expect(node(flow, 'totp_code').attributes.value).toBe('')
  })

  test('with a secret that stays within a flow, and is new in the next', async () => {
    const { session_token } = await fixture.register(email)
    const headers = withToken(session_token)
    const flow = await fixture.settings(session_token)
    const again = (await read(fixture, flow.ui.action, headers)).body
    const failed = (await fixture.send(flow, totp(wrongCode(fixture, secretIn(flow))), headers))
      .body
    const after = (await read(fixture, flow.ui.action, headers)).body

    for (const shown of [again, failed, after]) {
      expect(secretIn(shown)).toBe(secretIn(flow))
      expect(node(shown, 'totp_qr')).toEqual(node(flow, 'totp_qr'))
    }
    expect(secretIn(await fixture.settings(session_token))).not.toBe(secretIn(flow))
  })

  test.each([
    ['a wrong one', (secret: string) => wrongCode(fixture, secret), 4000008],
    ['none', () => undefined, 4000002],
    ['five digits', (secret: string) => totpAt(secret, fixture.clock.now()).slice(1), 4000008],
    ['a number', (secret: string) => Number(totpAt(secret, fixture.clock.now())), 4000026],
    ['letters', () => 'abcdef', 4000008],
    ['that of another secret', () => totpAt('A'.repeat(32), fixture.clock.now()), 4000008],
    [
      'one of two steps ago',
      (secret: string) => totpAt(secret, fixture.clock.now() - 2 * STEP),
      4000008,
    ],
    [
      'one of long after',
      (secret: string) => totpAt(secret, fixture.clock.now() + 2 * STEP),
      4000008,
    ],
  ])('with a code that the app shows, not with %s', async (_, given, id) => {
    const { session_token, identity } = await fixture.register(email)
    const flow = await fixture.settings(session_token)

    const answer = await fixture.send(flow, totp(given(secretIn(flow))), withToken(session_token))

    expect(node(answer.body, 'totp_code').attributes.value).toBe('')
    expect(answer).toMatchObject(complains(id, 'totp_code'))
    expect((await fixture.readIdentity(identity)).credentials).not.toHaveProperty('totp')
    expect((await sessionOf(fixture, session_token)).authenticator_assurance_level).toBe('aal1')
  })

  test('with blanks in the code, as apps show it', async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.settings(session_token)
    const code = totpAt(secretIn(flow), fixture.clock.now())
    const spaced = `${code.slice(0, 3)} ${code.slice(3)}`
    expect(await fixture.send(flow, totp(spaced), withToken(session_token))).toMatchObject({
      status: 200,
    })
  })

  test('and the session is one of both factors from then on, and goes on', async () => {
    const { session_token, session, identity } = await fixture.register(email)
    fixture.clock.jump(STEP)
    await fixture.enrol(session_token)

    const now = await sessionOf(fixture, session_token)
    expect(now).toMatchObject({
      id: session.id,
      authenticator_assurance_level: 'aal2',
      authenticated_at: new Date(fixture.clock.now()).toISOString(),
      issued_at: session.issued_at,
      expires_at: session.expires_at,
    })
    expect(now.authentication_methods.map(({ method, aal }: Json) => [method, aal])).toEqual([
      ['password', 'aal1'],
      ['totp', 'aal2'],
    ])
    expect(Object.keys((await fixture.readIdentity(identity)).credentials).toSorted()).toEqual([
      'password',
      'totp',
    ])
    expect(actionsOn(fixture.app, `identity:${identity.id}`).at(-1)).toBe(
      'identity.authenticator_added',
    )
  })

  test('and all other sessions of the person owe a code from then on', async () => {
    const { session_token } = await fixture.register(email)
    const { session_token: other } = await fixture.signIn(email)
    const bystander = await fixture.register(`by-${email}`)
    await fixture.enrol(session_token)

    expect(await fixture.whoami(other)).toMatchObject(refuses(403, 'session_aal2_required'))
    expect((await fixture.whoami(other)).body).not.toHaveProperty('identity')
    expect(await fixture.whoami(session_token)).toMatchObject({ status: 200 })
    expect(await fixture.whoami(bystander.session_token)).toMatchObject({ status: 200 })
  })

  test('once: of two flows the second one is told that there is one', async () => {
    const { session_token } = await fixture.register(email)
    const headers = withToken(session_token)
    const [first, second] = [
      await fixture.settings(session_token),
      await fixture.settings(session_token),
    ]
    const codeOf = (flow: Json) => totp(totpAt(secretIn(flow), fixture.clock.now()))
    await fixture.sendWell(first, codeOf(first), headers)

    expect(await fixture.send(second, codeOf(second), headers)).toMatchObject({ status: 422 })

    const half = await halfway(fixture, email)
    const stale = totp(nextCode(fixture, secretIn(second)))
    expect(await fixture.send(half.flow, stale)).toMatchObject(complains(4000008, 'totp_code'))
    const good = totp(nextCode(fixture, secretIn(first)))
    expect(await fixture.send(half.flow, good)).toMatchObject({ status: 200 })
  })

  test('with a secret that is in no table as it is shown', async () => {
    const { secret, token } = await enrolled(fixture, email)
    const open = await fixture.settings(token)
    expect(tablesWith(fixture.app, secret)).toEqual({})
    const { session_token } = await fixture.register(`other-${email}`)
    expect(tablesWith(fixture.app, secretIn(await fixture.settings(session_token)))).toEqual({})
    expect(JSON.stringify(open)).not.toContain(secret)
    expect(fixture.app.log.join('')).not.toContain(secret)
  })

  test('not from the secret of a flow that is over', async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.settings(session_token)
    const code = totpAt(secretIn(flow), fixture.clock.now())
    const headers = withToken(session_token)
    await fixture.sendWell(flow, { method: 'profile', traits: { email } }, headers)
    expect(await fixture.send(flow, totp(code), headers)).toMatchObject(complains(4050001))
  })
})

describe('a sign-in with an authenticator', () => {
  test('is half of one after the password: no identity, and a way on', async () => {
    await enrolled(fixture, email)

    const { status, body } = await fixture.tryPassword(email)

    const { session_token: token, session, continue_with: next } = body
    expect(status).toBe(200)
    expect(token).toStartWith('gat_st_')
    expect(session).toMatchObject({ token, authenticator_assurance_level: 'aal1', identity: null })
    expect(next.map(({ action }: Json) => action)).toEqual([
      'set_ory_session_token',
      'redirect_browser_to',
    ])
    expect(next[1].redirect_browser_to).toContain('/auth/self-service/login?flow=')
    expect(body).not.toHaveProperty('identity')
    expect(JSON.stringify(body)).not.toContain(email)
    expect(await fixture.whoami(token)).toMatchObject(refuses(403, 'session_aal2_required'))
  })

  test('asks for a code in a flow of its own, which asks for nothing else', async () => {
    await enrolled(fixture, email)
    const { flow } = await halfway(fixture, email)
    expect(flow).toMatchObject({ requested_aal: 'aal2', refresh: false, state: 'choose_method' })
    expect(messageIds(flow)).toEqual([1010004])
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
    expect(JSON.stringify(flow)).not.toContain(email)
  })

  test('is whole after the code: the same session, by the same token', async () => {
    const { secret } = await enrolled(fixture, email)
    const { flow, token, signedIn } = await halfway(fixture, email)

    const { status, body } = await fixture.send(flow, totp(nextCode(fixture, secret)))

    expect(status).toBe(200)
    expect(body).toMatchObject({
      session_token: token,
      session: {
        id: signedIn.session.id,
        token,
        authenticator_assurance_level: 'aal2',
        identity: { traits: { email } },
      },
    })
    expect(body.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
    expect(await sessionOf(fixture, token)).toMatchObject({ id: signedIn.session.id })
    expect(await fixture.send(flow, totp(nextCode(fixture, secret)))).toMatchObject(
      complains(4010007),
    )
  })

  test('is told to webhooks once it is whole, and once', async () => {
    await using target = startTarget()
    const own = await flowParty(fixture.app, 'Told')
    await own.security({ mfa_enabled: true })
    const { session_token } = await own.register(email)
    const secret = await own.enrol(session_token)
    await own.createWebhook(target.url, { events: ['identity.login'] })
    const { body } = await own.tryPassword(email)
    await rest(fixture.app)
    expect(typesTold(target)).toEqual([])

    const url = body.continue_with.at(-1).redirect_browser_to
    const flow = (await read(fixture, url, withToken(body.session_token))).body
    const now = nextCode(fixture, secret)
    expect(await own.send(flow, totp(now))).toMatchObject({ status: 200 })
    await rest(fixture.app)

    expect(typesTold(target)).toEqual(['identity.login'])
  })

  test('cannot be made whole by the password again, nor by a code of a mail', async () => {
    await enrolled(fixture, email)
    const { flow } = await halfway(fixture, email)
    for (const fields of [
      { method: 'password', identifier: email, password: PASSWORD },
      { method: 'code', identifier: email },
      { method: 'oidc', provider: 'github' },
      {},
    ])
      expect(await fixture.send(flow, fields)).toMatchObject(complains(4010002))
  })

  test('takes no second factor before the first', async () => {
    const { secret, token } = await enrolled(fixture, email)
    const [code = ''] = await recoveryCodes(fixture, token)
    const flow = await fixture.start('login')
    for (const fields of [totp(nextCode(fixture, secret)), { lookup_secret: code }])
      expect(await fixture.send(flow, { ...fields, identifier: email })).toMatchObject(
        complains(4010002),
      )
  })

  test.each([
    ['wrong', (secret: string) => wrongCode(fixture, secret), 4000008],
    ['missing', () => undefined, 4000002],
    ['no text', () => 123456, 4000026],
    ['too long', () => '1'.repeat(5000), 4000026],
    ['of other digits', () => '１２３４５６', 4000008],
  ])('needs the right code: one that is %s is refused', async (_, given, id) => {
    const { secret } = await enrolled(fixture, email)
    const { flow, token } = await halfway(fixture, email)

    const answer = await fixture.send(flow, totp(given(secret)))

    expect(answer.body.id).toBe(flow.id)
    expect(node(answer.body, 'totp_code').attributes.value ?? '').toBe('')
    expect(answer).toMatchObject(complains(id, 'totp_code'))
    expect(await fixture.whoami(token)).toMatchObject({ status: 403 })
  })

  test('does not take the code of somebody else', async () => {
    await enrolled(fixture, email)
    const { secret: other } = await enrolled(fixture, `other-${email}`)
    const { flow } = await halfway(fixture, email)
    expect(await fixture.send(flow, totp(nextCode(fixture, other)))).toMatchObject(
      complains(4000008, 'totp_code'),
    )
  })

  test('does not take a code twice, though it is still shown', async () => {
    const { secret } = await enrolled(fixture, email)
    const code = nextCode(fixture, secret)
    const first = await halfway(fixture, email)
    expect(await fixture.send(first.flow, totp(code))).toMatchObject({ status: 200 })

    const second = await halfway(fixture, email)
    expect(await fixture.send(second.flow, totp(code))).toMatchObject(
      complains(4000008, 'totp_code'),
    )
    expect(await fixture.send(second.flow, totp(nextCode(fixture, secret)))).toMatchObject({
      status: 200,
    })
  })

  test('does not take the code that set the authenticator up', async () => {
    const { secret } = await enrolled(fixture, email)
    const { flow } = await halfway(fixture, email)
    expect(await fixture.send(flow, totp(totpAt(secret, fixture.clock.now())))).toMatchObject(
      complains(4000008, 'totp_code'),
    )
  })

  test('of two at once with one code one is made whole', async () => {
    const { secret } = await enrolled(fixture, email)
    const flows = [await halfway(fixture, email), await halfway(fixture, email)]
    const code = nextCode(fixture, secret)
    const answers = await Promise.all(flows.map(({ flow }) => fixture.send(flow, totp(code))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  })

  test('takes a code one step early or late, as clocks are', async () => {
    const { secret } = await enrolled(fixture, email)
    fixture.clock.jump(5 * STEP)
    for (const [steps, status] of [
      [-2, 422],
      [2, 422],
      [-1, 200],
      [0, 200],
      [1, 200],
    ] as const) {
      const { flow } = await halfway(fixture, email)
      const code = totpAt(secret, fixture.clock.now() + steps * STEP)
      expect([steps, (await fixture.send(flow, totp(code))).status]).toEqual([steps, status])
    }
  })

  test('does not take a code of before the one that was taken last', async () => {
    const { secret } = await enrolled(fixture, email)
    fixture.clock.jump(5 * STEP)
    const { flow } = await halfway(fixture, email)
    await fixture.sendWell(flow, totp(totpAt(secret, fixture.clock.now() + STEP)))
    const later = await halfway(fixture, email)
    expect(await fixture.send(later.flow, totp(totpAt(secret, fixture.clock.now())))).toMatchObject(
      complains(4000008, 'totp_code'),
    )
  })

  test('ends with its session: the code leads nowhere then', async () => {
    const { secret } = await enrolled(fixture, email)
    const { flow, signedIn } = await halfway(fixture, email)
    await fixture.api.delete(`${SESSIONS}/${signedIn.session.id}`)
    expect(await fixture.send(flow, totp(nextCode(fixture, secret)))).toMatchObject(
      refuses(401, 'session_inactive'),
    )
  })
})

describe('wrong answers', () => {
  const BLOCK = 15 * MINUTE

  async function guess(many: number) {
    const { secret, token } = await enrolled(fixture, email)
    const codes = await recoveryCodes(fixture, token)
    const { flow } = await halfway(fixture, email)
    for (let n = 0; n < many; n++)
      expect(await fixture.send(flow, totp(wrongCode(fixture, secret)))).toMatchObject(
        complains(4000008, 'totp_code'),
      )
    return { secret, codes, flow, token }
  }

  const lookup = (lookup_secret: unknown) => ({ method: 'lookup_secret', lookup_secret })

  test('nine of them do no harm', async () => {
    const { secret, flow } = await guess(9)
    expect(await fixture.send(flow, totp(nextCode(fixture, secret)))).toMatchObject({ status: 200 })
  })

  test('ten of them block both kinds, in every flow, and neither is used up', async () => {
    const { secret, flow, codes } = await guess(10)
    const [code = ''] = codes
    const other = await halfway(fixture, email)
    for (const each of [flow, other.flow]) {
      const right = await fixture.send(each, totp(nextCode(fixture, secret)))
      expect(messageIds(right.body)).toContain('totp_code:4900002')
      const answer = await fixture.send(each, lookup(code))
      expect(messageIds(answer.body)).toContain('lookup_secret:4900002')
      expect([422, 429]).toContain(right.status)
    }

    fixture.clock.jump(BLOCK)
    expect(await fixture.send(flow, lookup(code))).toMatchObject({ status: 200 })
    const last = await halfway(fixture, email)
    expect(await fixture.send(last.flow, totp(nextCode(fixture, secret)))).toMatchObject({
      status: 200,
    })
  })

  test('of both kinds count together', async () => {
    const { secret, flow } = await guess(5)
    for (let n = 0; n < 5; n++)
      expect(await fixture.send(flow, lookup('zzzz-zzzz'))).toMatchObject(
        complains(4000016, 'lookup_secret'),
      )
    const { body } = await fixture.send(flow, totp(nextCode(fixture, secret)))
    expect(messageIds(body)).toContain('totp_code:4900002')
  })

  test('block for 15 minutes after the last, to the millisecond', async () => {
    const { secret, flow } = await guess(10)
    fixture.clock.jump(BLOCK - 1)
    const code = totpAt(secret, fixture.clock.now())
    expect(messageIds((await fixture.send(flow, totp(code))).body)).toContain('totp_code:4900002')
    fixture.clock.jump(1)
    expect(await fixture.send(flow, totp(totpAt(secret, fixture.clock.now())))).toMatchObject({
      status: 200,
    })
  })

  test('that are not looked at block no longer', async () => {
    const { secret, flow } = await guess(10)
    fixture.clock.jump(BLOCK / 2)
    await fixture.send(flow, totp(wrongCode(fixture, secret)))
    fixture.clock.jump(BLOCK / 2)
    expect(await fixture.send(flow, totp(totpAt(secret, fixture.clock.now())))).toMatchObject({
      status: 200,
    })
  })

  test('of whoever is blocked say how long it still takes', async () => {
    const { secret, flow } = await guess(10)
    fixture.clock.jump(14 * MINUTE)
    const { body } = await fixture.send(flow, totp(totpAt(secret, fixture.clock.now())))
    expect(node(body, 'totp_code').messages).toMatchObject([
      { id: 4900002, context: { seconds: 60 } },
    ])
  })

  test('answer with 429 and when to try again, once there were too many', async () => {
    const { secret, flow } = await guess(10)
    const answer = await fixture.send(flow, totp(totpAt(secret, fixture.clock.now())))
    expect(answer).toMatchObject({ status: 429, body: { id: flow.id } })
    expect(answer.headers.get('retry-after')).toBe('900')
  })

  test('are forgotten after a right one', async () => {
    const { secret, flow } = await guess(9)
    await fixture.sendWell(flow, totp(nextCode(fixture, secret)))
    const { flow: next } = await halfway(fixture, email)
    for (let n = 0; n < 9; n++) await fixture.send(next, totp(wrongCode(fixture, secret)))
    expect(await fixture.send(next, totp(nextCode(fixture, secret)))).toMatchObject({ status: 200 })
  })

  test('begin anew after the block', async () => {
    const { secret, flow } = await guess(10)
    fixture.clock.jump(BLOCK)
    for (let n = 0; n < 9; n++)
      expect(await fixture.send(flow, totp(wrongCode(fixture, secret)))).toMatchObject(
        complains(4000008, 'totp_code'),
      )
    expect(await fixture.send(flow, totp(totpAt(secret, fixture.clock.now())))).toMatchObject({
      status: 200,
    })
  })

  test('at once count each', async () => {
    const { secret, flow } = await guess(0)
    const wrong = wrongCode(fixture, secret)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.send(flow, totp(wrong))),
    )
    const ids = answers.map(({ body }) => messageIds(body).at(-1))
    expect(ids.filter((id) => id === 'totp_code:4000008')).toHaveLength(10)
    expect(ids.filter((id) => id === 'totp_code:4900002')).toHaveLength(10)
  })

  test('are counted for each person alone, and nothing but the sign-in is blocked', async () => {
    const { token } = await guess(10)
    const other = await enrolled(fixture, `other-${email}`)
    const { flow } = await halfway(fixture, `other-${email}`)
    expect(await fixture.send(flow, totp(nextCode(fixture, other.secret)))).toMatchObject({
      status: 200,
    })
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  })

  test('while an authenticator is set up count for nothing', async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.settings(session_token)
    const headers = withToken(session_token)
    for (let n = 0; n < 12; n++)
      await fixture.send(flow, totp(wrongCode(fixture, secretIn(flow))), headers)
    const code = totpAt(secretIn(flow), fixture.clock.now())
    expect(await fixture.send(flow, totp(code), headers)).toMatchObject({ status: 200 })
  })
})

describe('an authenticator is removed', () => {
  const remove = { method: 'totp', totp_unlink: true }

  test('by its button, with the recovery codes that were for its loss', async () => {
    const { token, identity } = await enrolled(fixture, email)
    await recoveryCodes(fixture, token)
    const before = await fixture.settings(token)
    expect(nodeNames(before).filter((name) => /totp|lookup/.test(name))).toEqual([
      'totp:totp_unlink=true',
      'lookup_secret:lookup_secret_regenerate=true',
      'lookup_secret:lookup_secret_disable=true',
    ])

    expect(await fixture.change(token, remove)).toMatchObject({
      status: 200,
      body: { state: 'success' },
    })

    expect(Object.keys((await fixture.readIdentity(identity)).credentials)).toEqual(['password'])
    const types = rowsOf(fixture.app, 'gate_credentials').filter(
      ({ identity_id }) => identity_id === identity.id,
    )
    expect(types.map(({ type }) => type)).toEqual(['password'])
    expect(actionsOn(fixture.app, `identity:${identity.id}`)).toContain(
      'identity.authenticator_removed',
    )
    expect(nodeNames(await fixture.settings(token))).toContain('totp:totp_code')
  })

  test('and the password is enough again, for sessions that owed a code as well', async () => {
    const { token } = await enrolled(fixture, email)
    const { token: half } = await halfway(fixture, email)
    await fixture.change(token, remove)
    expect(await fixture.whoami(half)).toMatchObject({ status: 200 })
    expect((await fixture.signIn(email)).session.identity).not.toBeNull()
  })

  test('and a sign-in that waits for its code is over', async () => {
    const { token, secret } = await enrolled(fixture, email)
    const { flow } = await halfway(fixture, email)
    await fixture.change(token, remove)
    const answer = await fixture.send(flow, totp(nextCode(fixture, secret)))
    expect(answer.status).toBe(422)
  })

  test('by none but who has shown both factors', async () => {
    await enrolled(fixture, email)
    const { token } = await halfway(fixture, email)
    expect(await fixture.ask('settings', withToken(token))).toMatchObject(
      refuses(403, 'session_aal2_required'),
    )
  })

  test('if there is one', async () => {
    const { session_token } = await fixture.register(email)
    expect(await fixture.change(session_token, remove)).toMatchObject(complains(4000011))
  })

  test('and the next one has another secret', async () => {
    const { token, secret } = await enrolled(fixture, email)
    await fixture.change(token, remove)
    fixture.clock.jump(STEP)
    const next = await fixture.enrol(token)
    expect(next).not.toBe(secret)
    const { flow } = await halfway(fixture, email)
    expect(await fixture.send(flow, totp(nextCode(fixture, secret)))).toMatchObject({ status: 422 })
    expect(await fixture.send(flow, totp(totpAt(next, fixture.clock.now())))).toMatchObject({
      status: 200,
    })
  })
})

describe('while the tenant has second factors switched off', () => {
  test('nobody is asked, nothing is deleted, and when they are on again all is as before', async () => {
    await using own = await bootFactors()
    const { token, secret, identity } = await enrolled(own, email)
    const codes = await recoveryCodes(own, token)
    const half = await halfway(own, email)
    const before = (await own.readIdentity(identity)).credentials

    await own.security({ mfa_enabled: false })
    expect(await own.whoami(half.token)).toMatchObject({ status: 200 })
    const { session, continue_with } = await own.signIn(email)
    expect(session.identity).toMatchObject({ id: identity.id })
    expect(continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
    expect(nodeNames(await own.settings(token)).filter((name) => /totp|lookup/.test(name))).toEqual(
      [],
    )
    expect(await own.change(token, CODES.make)).toMatchObject(complains(4010004))
    expect(await own.change(token, { method: 'totp', totp_unlink: true })).toMatchObject(
      complains(4010004),
    )
    expect((await own.readIdentity(identity)).credentials).toEqual(before)

    await own.security({ mfa_enabled: true })
    expect(await own.whoami(half.token)).toMatchObject({ status: 403 })
    const again = await halfway(own, email)
    expect(await own.send(again.flow, totp(nextCode(own, secret)))).toMatchObject({ status: 200 })
    const last = await halfway(own, email)
    const lookup_secret = codes[0]
    expect(await own.send(last.flow, { method: 'lookup_secret', lookup_secret })).toMatchObject({
      status: 200,
    })
  })

  test('an authenticator that is being set up is not set', async () => {
    await using own = await bootFactors()
    const { session_token, identity } = await own.register(email)
    const flow = await own.settings(session_token)
    await own.security({ mfa_enabled: false })
    const fields = totp(totpAt(secretIn(flow), own.clock.now()))
    expect(await own.send(flow, fields, withToken(session_token))).toMatchObject(complains(4010004))
    expect((await own.readIdentity(identity)).credentials).not.toHaveProperty('totp')
  })
})
