import { describe, expect, test } from 'bun:test'
import { inflateSync } from 'node:zlib'
import { URI } from 'otpauth'
import decodeQR from 'qr/decode.js'
import { type Json, MINUTE, SESSIONS } from '../../fixture.ts'
import { actionsOn, tablesWith } from '../../identities/people.ts'
import {
  ADA,
  BOB,
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
import { credentialsOf, isoAt, type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD, totpAt } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const OWED = refuses(403, 'session_aal2_required')
const WRONG = complains(4000008, 'totp_code')
const GOOD = { status: 200 }
const REMOVE = { method: 'totp', totp_unlink: true }

const totp = (totp_code: unknown) => ({ method: 'totp', totp_code })
const lookup = (lookup_secret: unknown) => ({ method: 'lookup_secret', lookup_secret })
const codeNow = (secret: string, steps = 0) => totpAt(secret, clock.now() + steps * STEP)
const secretIn = (flow: Json): string =>
  node(flow, 'totp_secret_key').attributes.text.context.secret
const factorNodes = (flow: Json) => nodeNames(flow).filter((name) => /totp|lookup/.test(name))

const newTenant = () => flows.newTenant({ mfa_enabled: true })

/** A person without an authenticator, and a flow to set one up. */
async function settingUp() {
  const acme = await newTenant()
  const { session_token: token, identity, session } = await acme.register(ADA)
  const flow = await acme.settings(token)
  const set = (fields: Json) => acme.send(flow, fields, withToken(token))
  return { acme, token: token as string, identity, session, flow, secret: secretIn(flow), set }
}

/** A person with an authenticator, and a sign-in that waits for its code. */
async function signingIn() {
  const acme = await newTenant()
  const { secret, token, identity } = await enrolled(acme)
  const { flow, token: half, signedIn } = await halfway(acme)
  const send = (fields: Json) => acme.send(flow, fields)
  return { acme, secret, token, identity, flow, half, signedIn, send }
}

/** What a camera reads in a picture of one bit a pixel. */
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

describe('setting up an authenticator', () => {
  test('shows a picture and a key of the same secret', async () => {
    const { flow, secret } = await settingUp()
    expect(factorNodes(flow)).toEqual([
      'totp:totp_qr',
      'totp:totp_secret_key',
      'totp:totp_code',
      'totp:method=totp',
      'lookup_secret:lookup_secret_regenerate=true',
    ])
    expect(node(flow, 'totp_code').attributes.value).toBe('')
    const { src, width, height } = node(flow, 'totp_qr').attributes
    expect({ width, height }).toEqual({ width: 256, height: 256 })
    const uri = URI.parse(readPicture(src))
    const standard = { algorithm: 'SHA1', digits: 6, period: 30 }
    expect(uri).toMatchObject({ issuer: 'Other', label: ADA, ...standard })
    expect(uri.secret.base32).toBe(secret)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  })

  test('keeps the secret within a flow, and has a new one in the next', async () => {
    const { acme, token, flow, secret, set } = await settingUp()
    const again = (await read(acme, flow.ui.action, withToken(token))).body
    const failed = (await set(totp(wrongCode(acme, secret)))).body
    for (const shown of [again, failed]) {
      expect(secretIn(shown)).toBe(secret)
      expect(node(shown, 'totp_qr')).toEqual(node(flow, 'totp_qr'))
    }
    expect(secretIn(await acme.settings(token))).not.toBe(secret)
  })

  test('needs a current code of the secret', async () => {
    const { acme, token, identity, secret, set } = await settingUp()
    for (const [code, id] of [
      [wrongCode(acme, secret), 4000008],
      [undefined, 4000002],
      [codeNow(secret).slice(1), 4000008],
      [Number(codeNow(secret)), 4000026],
      ['abcdef', 4000008],
      [codeNow('A'.repeat(32)), 4000008],
      [codeNow(secret, -2), 4000008],
      [codeNow(secret, 2), 4000008],
    ] as const) {
      const answer = await set(totp(code))
      expect(node(answer.body, 'totp_code').attributes.value).toBe('')
      expect(answer).toMatchObject(complains(id, 'totp_code'))
    }
    expect(await credentialsOf(acme, identity)).toEqual(['password'])
    expect((await sessionOf(acme, token)).authenticator_assurance_level).toBe('aal1')
    // None of these were counted against the person.
    for (let n = 0; n < 12; n++) await set(totp(wrongCode(acme, secret)))
    const code = codeNow(secret)
    expect(await set(totp(`${code.slice(0, 3)} ${code.slice(3)}`))).toMatchObject(GOOD)
  })

  test('makes the session one of two factors; all others owe a code', async () => {
    const { acme, token, session, identity } = await settingUp()
    const { session_token: other } = await acme.signIn(ADA)
    const bob = await acme.register(BOB)
    clock.jump(STEP)
    await acme.enrol(token)
    const { issued_at, expires_at } = session
    const now = await sessionOf(acme, token)
    expect(now).toMatchObject({
      id: session.id,
      authenticator_assurance_level: 'aal2',
      authenticated_at: isoAt(clock.now()),
      issued_at,
      expires_at,
    })
    expect(now.authentication_methods.map(({ method, aal }: Json) => [method, aal])).toEqual([
      ['password', 'aal1'],
      ['totp', 'aal2'],
    ])
    expect(await credentialsOf(acme, identity)).toEqual(['password', 'totp'])
    const actions = actionsOn(app, `identity:${identity.id}`)
    expect(actions.at(-1)).toBe('identity.authenticator_added')
    const owed = await acme.whoami(other)
    expect(owed).toMatchObject(OWED)
    expect(owed.body).not.toHaveProperty('identity')
    expect(await acme.whoami(bob.session_token)).toMatchObject(GOOD)
  })

  test('works once: the secret of a second flow is of no use', async () => {
    const { acme, token, secret, set } = await settingUp()
    const second = await acme.settings(token)
    expect(await set(totp(codeNow(secret)))).toMatchObject(GOOD)
    const late = totp(codeNow(secretIn(second)))
    expect(await acme.send(second, late, withToken(token))).toMatchObject({ status: 422 })
    const { flow } = await halfway(acme)
    expect(await acme.send(flow, totp(nextCode(acme, secretIn(second))))).toMatchObject(WRONG)
    expect(await acme.send(flow, totp(nextCode(acme, secret)))).toMatchObject(GOOD)
  })

  test('is over with its flow', async () => {
    const { secret, set } = await settingUp()
    await set({ method: 'profile', traits: { email: ADA } })
    expect(await set(totp(codeNow(secret)))).toMatchObject(complains(4050001))
  })

  test('stores and logs no secret in plain text', async () => {
    const { acme, token, secret, set } = await settingUp()
    expect(tablesWith(app, secret)).toEqual({})
    await set(totp(codeNow(secret)))
    expect(tablesWith(app, secret)).toEqual({})
    expect(JSON.stringify(await acme.settings(token))).not.toContain(secret)
    expect(app.log.join('')).not.toContain(secret)
  })
})

describe('a sign-in with an authenticator', () => {
  test('opens a session without an identity, and continues in another flow', async () => {
    const { acme, half, signedIn, flow } = await signingIn()
    const { session, continue_with: next } = signedIn
    const level = 'aal1'
    expect(session).toMatchObject({
      token: half,
      authenticator_assurance_level: level,
      identity: null,
    })
    const actions = next.map(({ action }: Json) => action)
    expect(actions).toEqual(['set_ory_session_token', 'redirect_browser_to'])
    expect(next[1].redirect_browser_to).toContain('/auth/self-service/login?flow=')
    expect(signedIn).not.toHaveProperty('identity')
    expect(await acme.whoami(half)).toMatchObject(OWED)
    expect(flow).toMatchObject({ requested_aal: 'aal2', refresh: false, state: 'choose_method' })
    expect(messageIds(flow)).toEqual([1010004])
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
    for (const text of [signedIn, flow]) expect(JSON.stringify(text)).not.toContain(ADA)
  })

  test('is complete with the code: the same session, with the same token', async () => {
    const { acme, secret, half, signedIn, send } = await signingIn()
    const { status, body } = await send(totp(nextCode(acme, secret)))
    const { id } = signedIn.session
    const identity = { traits: { email: ADA } }
    const session = { id, token: half, authenticator_assurance_level: 'aal2', identity }
    expect({ status, body }).toMatchObject({ status: 200, body: { session_token: half, session } })
    expect(body.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
    expect(await sessionOf(acme, half)).toMatchObject({ id })
    expect(await send(totp(nextCode(acme, secret)))).toMatchObject(complains(4010007))
  })

  test('takes first and second factor each in its own flow', async () => {
    const { acme, token, secret, send } = await signingIn()
    for (const fields of [
      { method: 'password', identifier: ADA, password: PASSWORD },
      { method: 'code', identifier: ADA },
      { method: 'oidc', provider: 'github' },
      {},
    ])
      expect(await send(fields)).toMatchObject(complains(4010002))
    const [code] = await recoveryCodes(acme, token)
    const first = await acme.start('login')
    for (const fields of [totp(nextCode(acme, secret)), lookup(code)])
      expect(await acme.send(first, { ...fields, identifier: ADA })).toMatchObject(
        complains(4010002),
      )
  })

  test('needs the right code', async () => {
    const { acme, secret, half, flow, send } = await signingIn()
    const bob = await enrolled(acme, BOB)
    for (const [code, id] of [
      [wrongCode(acme, secret), 4000008],
      [undefined, 4000002],
      [123456, 4000026],
      ['1'.repeat(33), 4000008],
      ['1'.repeat(5000), 4000026],
      ['１２３４５６', 4000008],
      [nextCode(acme, bob.secret), 4000008],
    ] as const) {
      const answer = await send(totp(code))
      expect(answer.body.id).toBe(flow.id)
      expect(node(answer.body, 'totp_code').attributes.value ?? '').toBe('')
      expect(answer).toMatchObject(complains(id, 'totp_code'))
    }
    expect(await acme.whoami(half)).toMatchObject({ status: 403 })
  })

  test('takes a code once, and none of before it', async () => {
    const { acme, secret, send } = await signingIn()
    // This one set the authenticator up.
    expect(await send(totp(codeNow(secret)))).toMatchObject(WRONG)
    clock.jump(5 * STEP)
    const later = codeNow(secret, 1)
    expect(await send(totp(later))).toMatchObject(GOOD)
    const { flow } = await halfway(acme)
    for (const code of [later, codeNow(secret)])
      expect(await acme.send(flow, totp(code))).toMatchObject(WRONG)
    clock.jump(2 * STEP)
    expect(await acme.send(flow, totp(codeNow(secret)))).toMatchObject(GOOD)
  })

  test('takes a code for one of two flows at once', async () => {
    const { acme, secret } = await signingIn()
    const halves = [await halfway(acme), await halfway(acme)]
    const code = nextCode(acme, secret)
    const answers = await Promise.all(halves.map(({ flow }) => acme.send(flow, totp(code))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  })

  test('takes a code one step early or late', async () => {
    const { acme, secret } = await signingIn()
    clock.jump(5 * STEP)
    const statuses: number[] = []
    for (const steps of [-2, 2, -1, 0, 1]) {
      const { flow } = await halfway(acme)
      statuses.push((await acme.send(flow, totp(codeNow(secret, steps)))).status)
    }
    expect(statuses).toEqual([422, 422, 200, 200, 200])
  })

  test('ends with its session', async () => {
    const { acme, secret, signedIn, send } = await signingIn()
    await acme.api.delete(`${SESSIONS}/${signedIn.session.id}`)
    const refused = refuses(401, 'session_inactive')
    expect(await send(totp(nextCode(acme, secret)))).toMatchObject(refused)
  })
})

describe('wrong second factors', () => {
  const BLOCK = 15 * MINUTE
  const BLOCKED = 'totp_code:4900002'

  /** A sign-in after this many wrong codes, one of them a recovery code. */
  async function guessing(many: number) {
    const of = await signingIn()
    const codes = await recoveryCodes(of.acme, of.token)
    for (let n = 0; n < many; n++) {
      const isLookup = n === 3
      const fields = isLookup ? lookup('zzzz-zzzz') : totp(wrongCode(of.acme, of.secret))
      expect((await of.send(fields)).status).toBe(422)
    }
    return { ...of, code: codes[0] as string }
  }

  test('are forgotten after a right one', async () => {
    const { acme, secret, send } = await guessing(9)
    expect(await send(totp(nextCode(acme, secret)))).toMatchObject(GOOD)
    const { flow } = await halfway(acme)
    for (let n = 0; n < 9; n++) await acme.send(flow, totp(wrongCode(acme, secret)))
    expect(await acme.send(flow, totp(nextCode(acme, secret)))).toMatchObject(GOOD)
  })

  test('block both kinds after ten, in all flows, for 15 minutes', async () => {
    const { acme, secret, code, flow, send } = await guessing(10)
    const other = await halfway(acme)
    for (const each of [flow, other.flow]) {
      const answer = await acme.send(each, totp(nextCode(acme, secret)))
      expect(messageIds(answer.body)).toContain(BLOCKED)
      expect(answer.status).toBe(429)
      const byCode = await acme.send(each, lookup(code))
      expect(messageIds(byCode.body)).toContain('lookup_secret:4900002')
    }
    clock.jump(BLOCK - 1 - 2 * STEP)
    const late = await send(totp(codeNow(secret)))
    expect(late.headers.get('retry-after')).toBe('1')
    expect(node(late.body, 'totp_code').messages).toMatchObject([
      { id: 4900002, context: { seconds: 1 } },
    ])
    clock.jump(1)
    // The recovery code was not used up.
    expect(await send(lookup(code))).toMatchObject(GOOD)
    expect(await acme.send(other.flow, totp(nextCode(acme, secret)))).toMatchObject(GOOD)
  })

  test('block no longer for tries meanwhile, and are counted anew afterwards', async () => {
    const { acme, secret, send } = await guessing(10)
    const wrong = () => send(totp(wrongCode(acme, secret)))
    expect((await wrong()).headers.get('retry-after')).toBe('900')
    clock.jump(BLOCK / 2)
    await wrong()
    clock.jump(BLOCK / 2)
    for (let n = 0; n < 9; n++) expect(await wrong()).toMatchObject(WRONG)
    expect(await send(totp(codeNow(secret)))).toMatchObject(GOOD)
  })

  test('are each counted if they arrive at once', async () => {
    const { acme, secret, send } = await guessing(0)
    const wrong = totp(wrongCode(acme, secret))
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(wrong)))
    const ids = answers.map(({ body }) => messageIds(body).at(-1))
    expect(ids.filter((id) => id === 'totp_code:4000008')).toHaveLength(10)
    expect(ids.filter((id) => id === BLOCKED)).toHaveLength(10)
  })

  test('block nobody else, and no session', async () => {
    const { acme, token } = await guessing(10)
    const bob = await enrolled(acme, BOB)
    const { flow } = await halfway(acme, BOB)
    expect(await acme.send(flow, totp(nextCode(acme, bob.secret)))).toMatchObject(GOOD)
    expect(await acme.whoami(token)).toMatchObject(GOOD)
  })
})

describe('removing an authenticator', () => {
  test('removes the recovery codes too, and ends waiting sign-ins', async () => {
    const { acme, token, identity, secret, half, send } = await signingIn()
    await recoveryCodes(acme, token)
    expect(factorNodes(await acme.settings(token))).toEqual([
      'totp:totp_unlink=true',
      'lookup_secret:lookup_secret_regenerate=true',
      'lookup_secret:lookup_secret_disable=true',
    ])
    const removed = { status: 200, body: { state: 'success' } }
    expect(await acme.change(token, REMOVE)).toMatchObject(removed)
    expect(await credentialsOf(acme, identity)).toEqual(['password'])
    const actions = actionsOn(app, `identity:${identity.id}`)
    expect(actions).toContain('identity.authenticator_removed')
    expect(nodeNames(await acme.settings(token))).toContain('totp:totp_code')
    // The password suffices again, also for sessions that owed a code.
    expect(await acme.whoami(half)).toMatchObject(GOOD)
    expect((await send(totp(nextCode(acme, secret)))).status).toBe(422)
    expect((await acme.signIn(ADA)).session.identity).not.toBeNull()
  })

  test('needs an authenticator, and both factors', async () => {
    const { acme, half } = await signingIn()
    expect(await acme.ask('settings', withToken(half))).toMatchObject(OWED)
    const { session_token } = await acme.register(BOB)
    expect(await acme.change(session_token, REMOVE)).toMatchObject(complains(4000011))
  })

  test('is followed by another secret', async () => {
    const { acme, token, secret } = await signingIn()
    await acme.change(token, REMOVE)
    clock.jump(STEP)
    const next = await acme.enrol(token)
    expect(next).not.toBe(secret)
    const { flow } = await halfway(acme)
    expect(await acme.send(flow, totp(nextCode(acme, secret)))).toMatchObject({ status: 422 })
    expect(await acme.send(flow, totp(codeNow(next)))).toMatchObject(GOOD)
  })
})

describe('while the tenant has second factors switched off', () => {
  const lookupAndTotp = async (acme: Tenant, secret: string, code: string | undefined) => {
    const first = await halfway(acme)
    expect(await acme.send(first.flow, totp(nextCode(acme, secret)))).toMatchObject(GOOD)
    const second = await halfway(acme)
    expect(await acme.send(second.flow, lookup(code))).toMatchObject(GOOD)
  }

  test('nobody is asked for one, and all are kept', async () => {
    const { acme, token, secret, identity, half } = await signingIn()
    const [code] = await recoveryCodes(acme, token)
    const { credentials } = await acme.readIdentity(identity)
    await acme.security({ mfa_enabled: false })
    expect(await acme.whoami(half)).toMatchObject(GOOD)
    const { session, continue_with } = await acme.signIn(ADA)
    expect(session.identity).toMatchObject({ id: identity.id })
    expect(continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
    expect(factorNodes(await acme.settings(token))).toEqual([])
    for (const fields of [CODES.make, REMOVE])
      expect(await acme.change(token, fields)).toMatchObject(complains(4010004))
    expect((await acme.readIdentity(identity)).credentials).toEqual(credentials)

    await acme.security({ mfa_enabled: true })
    expect(await acme.whoami(half)).toMatchObject({ status: 403 })
    await lookupAndTotp(acme, secret, code)
  })

  test('none is set up', async () => {
    const { acme, identity, secret, set } = await settingUp()
    await acme.security({ mfa_enabled: false })
    expect(await set(totp(codeNow(secret)))).toMatchObject(complains(4010004))
    expect(await credentialsOf(acme, identity)).toEqual(['password'])
  })
})
