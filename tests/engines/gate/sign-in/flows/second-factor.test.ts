import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { qrCode } from '../../../../../src/engines/gate/credentials/second-factor/qr-code.ts'
import { totpUri } from '../../../../../src/engines/gate/credentials/second-factor/totp.ts'
import { actionsOn, type Json, MINUTE, rowsOf, SESSIONS, tablesWith } from '../../fixture.ts'
import { ADA, BOB, CODES, codesShown, complains, refuses, STEP, withToken } from './acts.ts'
import { isoAt } from './checked.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD, totpAt } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows
const newTenant = () => flows.newTenant({ mfa_enabled: true })

const OWED = refuses(403, 'session_aal2_required')
const WRONG = complains(4000008, 'totp_code')
const GOOD = { status: 200 }
const AAL1 = { authenticator_assurance_level: 'aal1' }
const AAL2 = { authenticator_assurance_level: 'aal2' }
const REMOVE = { method: 'totp', totp_unlink: true }

const totp = (totp_code: unknown) => ({ method: 'totp', totp_code })
const lookup = (lookup_secret: unknown) => ({ method: 'lookup_secret', lookup_secret })
const codeNow = (secret: string, steps = 0) => totpAt(secret, clock.now() + steps * STEP)
const secretIn = (flow: Json): string =>
  node(flow, 'totp_secret_key').attributes.text.context.secret
const factorNodes = (flow: Json) => nodeNames(flow).filter((name) => /totp|lookup/.test(name))
const actionsOf = ({ continue_with }: Json) => continue_with.map(({ action }: Json) => action)

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
  const { secret, token, identity } = await acme.enrolled()
  const { flow, token: half, signedIn } = await acme.halfway()
  const send = (fields: Json) => acme.send(flow, fields)
  return { acme, secret, token, identity, flow, half, signedIn, send }
}

test('Setting up an authenticator shows a picture and a key of the same secret, which stays within a flow', async () => {
  const { acme, token, flow, secret, set } = await settingUp()
  expect(node(flow, 'totp_code').attributes.value).toBe('')
  const uri = totpUri({ secret, issuer: 'Acme', account: ADA })
  expect(node(flow, 'totp_qr').attributes.src).toBe(qrCode(uri))
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  const again = (await acme.readAt(flow.ui.action, withToken(token))).body
  const failed = (await set(totp(acme.wrongTotp(secret)))).body
  for (const shown of [again, failed]) {
    expect(secretIn(shown)).toBe(secret)
    expect(node(shown, 'totp_qr')).toEqual(node(flow, 'totp_qr'))
  }
  await app.platform.branding.change({ kind: 'cli' }, acme.id, { display_name: 'Globex' })
  const branded = await acme.settings(token)
  expect(secretIn(branded)).not.toBe(secret)
  const renamed = totpUri({ secret: secretIn(branded), issuer: 'Globex', account: ADA })
  expect(node(branded, 'totp_qr').attributes.src).toBe(qrCode(renamed))
})

test('Setting up an authenticator needs a current code of the secret', async () => {
  const { acme, token, identity, secret, set } = await settingUp()
  const wrong = acme.wrongTotp(secret)
  // None of these are counted against the person.
  for (const code of [...Array(10).fill(wrong), codeNow(secret).slice(1), codeNow(secret, 2)]) {
    const answer = await set(totp(code))
    expect(node(answer.body, 'totp_code').attributes.value).toBe('')
    expect(answer).toMatchObject(WRONG)
  }
  expect(await acme.credentialsOf(identity)).toEqual(['password'])
  expect(await acme.sessionOf(token)).toMatchObject(AAL1)
  const code = codeNow(secret)
  expect(await set(totp(`${code.slice(0, 3)} ${code.slice(3)}`))).toMatchObject(GOOD)
})

test('Setting up an authenticator makes the session one of two factors; all others owe a code', async () => {
  const { acme, token, session, identity } = await settingUp()
  const { session_token: other } = await acme.signIn(ADA)
  const bob = await acme.register(BOB)
  clock.jump(STEP)
  await acme.enrol(token)
  const { id, issued_at, expires_at } = session
  const now = await acme.sessionOf(token)
  const authenticated_at = isoAt(clock.now())
  expect(now).toMatchObject({ id, ...AAL2, authenticated_at, issued_at, expires_at })
  const methods = now.authentication_methods.map(({ method, aal }: Json) => `${method} ${aal}`)
  expect(methods).toEqual(['password aal1', 'totp aal2'])
  expect(await acme.credentialsOf(identity)).toEqual(['password', 'totp'])
  expect(actionsOn(app, `identity:${identity.id}`).at(-1)).toBe('identity.authenticator_added')
  expect(await acme.whoami(other)).toMatchObject(OWED)
  expect(await acme.whoami(bob.session_token)).toMatchObject(GOOD)
})

test('Setting up an authenticator works once, and stores and logs no secret in plain text', async () => {
  const { acme, token, secret, set } = await settingUp()
  const second = await acme.settings(token)
  expect(await set(totp(codeNow(secret)))).toMatchObject(GOOD)
  expect(tablesWith(app, secret)).toEqual({})
  expect(JSON.stringify(await acme.settings(token))).not.toContain(secret)
  expect(app.log.join('')).not.toContain(secret)
  // The secret of a second flow is of no use.
  const late = totp(codeNow(secretIn(second)))
  expect(await acme.send(second, late, withToken(token))).toMatchObject({ status: 422 })
  const { flow } = await acme.halfway()
  expect(await acme.send(flow, totp(acme.nextCode(secretIn(second))))).toMatchObject(WRONG)
  expect(await acme.send(flow, totp(acme.nextCode(secret)))).toMatchObject(GOOD)
})

test('A sign-in with an authenticator opens a session that owes the code, and is complete with it', async () => {
  const { acme, secret, half, signedIn, flow, send } = await signingIn()
  const { id } = signedIn.session
  expect(signedIn.session).toMatchObject({ token: half, ...AAL1, identity: null })
  expect(actionsOf(signedIn)).toEqual(['set_ory_session_token', 'redirect_browser_to'])
  const { redirect_browser_to } = signedIn.continue_with[1]
  expect(redirect_browser_to).toContain('/auth/self-service/login?flow=')
  expect(await acme.whoami(half)).toMatchObject(OWED)
  expect(flow).toMatchObject({ requested_aal: 'aal2', refresh: false, state: 'choose_method' })
  expect(messageIds(flow)).toEqual([1010004])
  expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
  for (const text of [signedIn, flow]) expect(JSON.stringify(text)).not.toContain(ADA)

  const bob = await acme.enrolled(BOB)
  for (const code of [acme.wrongTotp(secret), acme.nextCode(bob.secret)]) {
    const answer = await send(totp(code))
    expect([answer.body.id, node(answer.body, 'totp_code').attributes.value]).toEqual([flow.id, ''])
    expect(answer).toMatchObject(WRONG)
  }
  expect(await acme.whoami(half)).toMatchObject(OWED)
  const answer = await send(totp(acme.nextCode(secret)))
  const session = { id, token: half, ...AAL2, identity: { traits: { email: ADA } } }
  expect(answer).toMatchObject({ status: 200, body: { session_token: half, session } })
  expect(actionsOf(answer.body)).toEqual(['set_ory_session_token'])
  expect(await acme.sessionOf(half)).toMatchObject({ id })
  expect(await send(totp(acme.nextCode(secret)))).toMatchObject(complains(4010007))
})

test('A sign-in with an authenticator takes first and second factor each in its own flow', async () => {
  const { acme, token, secret, send } = await signingIn()
  const byPassword = { method: 'password', identifier: ADA, password: PASSWORD }
  const byProvider = { method: 'oidc', provider: 'github' }
  for (const fields of [byPassword, { method: 'code', identifier: ADA }, byProvider, {}])
    expect(await send(fields)).toMatchObject(complains(4010002))
  const [code] = await acme.makeRecoveryCodes(token)
  const first = await acme.start('login')
  for (const fields of [totp(acme.nextCode(secret)), lookup(code)]) {
    const answer = await acme.send(first, { ...fields, identifier: ADA })
    expect(answer).toMatchObject(complains(4010002))
  }
})

test('A sign-in with an authenticator takes a code once, and none of before it, for one of two flows at once', async () => {
  const { acme, secret, send } = await signingIn()
  // This one set the authenticator up.
  expect(await send(totp(codeNow(secret)))).toMatchObject(WRONG)
  clock.jump(5 * STEP)
  const later = codeNow(secret, 1)
  expect(await send(totp(later))).toMatchObject(GOOD)
  const both = [await acme.halfway(), await acme.halfway()]
  const sendBoth = (code: string) =>
    Promise.all(both.map(async ({ flow }) => (await acme.send(flow, totp(code))).status))
  for (const code of [later, codeNow(secret)]) expect(await sendBoth(code)).toEqual([422, 422])
  clock.jump(2 * STEP)
  expect((await sendBoth(codeNow(secret))).toSorted()).toEqual([200, 422])
})

test('A sign-in with an authenticator ends with its session', async () => {
  const { acme, secret, signedIn, send } = await signingIn()
  await acme.api.delete(`${SESSIONS}/${signedIn.session.id}`)
  const refused = refuses(401, 'session_inactive')
  expect(await send(totp(acme.nextCode(secret)))).toMatchObject(refused)
})

const BLOCK = 15 * MINUTE
const BLOCKED = 'totp_code:4900002'

/** A sign-in after this many wrong codes, one of them a recovery code. */
async function guessing(many: number) {
  const of = await signingIn()
  const codes = await of.acme.makeRecoveryCodes(of.token)
  const wrong = () => of.send(totp(of.acme.wrongTotp(of.secret)))
  for (let n = 0; n < many; n++) {
    const { status } = n === 3 ? await of.send(lookup('zzzz-zzzz')) : await wrong()
    expect(status).toBe(422)
  }
  return { ...of, wrong, code: codes[0] as string }
}

test('Wrong second factors block both kinds after ten, in all flows of the person, for 15 minutes', async () => {
  const { acme, secret, token, code, flow, send } = await guessing(10)
  const other = await acme.halfway()
  for (const each of [flow, other.flow]) {
    const answer = await acme.send(each, totp(acme.nextCode(secret)))
    expect([answer.status, messageIds(answer.body).at(-1)]).toEqual([429, BLOCKED])
    const byCode = await acme.send(each, lookup(code))
    expect(messageIds(byCode.body)).toContain('lookup_secret:4900002')
  }
  clock.jump(BLOCK - 1 - 2 * STEP)
  const late = await send(totp(codeNow(secret)))
  expect(late.headers.get('retry-after')).toBe('1')
  const message = { id: 4900002, context: { seconds: 1 } }
  expect(node(late.body, 'totp_code').messages).toMatchObject([message])
  expect(await acme.whoami(token)).toMatchObject(GOOD)
  clock.jump(1)
  // The recovery code was not used up.
  expect(await send(lookup(code))).toMatchObject(GOOD)
  expect(await acme.send(other.flow, totp(codeNow(secret)))).toMatchObject(GOOD)
})

test('Wrong second factors block no longer for tries meanwhile, and are forgotten then and after a right one', async () => {
  const { acme, secret, send, wrong } = await guessing(10)
  expect((await wrong()).headers.get('retry-after')).toBe('900')
  clock.jump(BLOCK / 2)
  await wrong()
  clock.jump(BLOCK / 2)
  for (let n = 0; n < 9; n++) expect(await wrong()).toMatchObject(WRONG)
  expect(await send(totp(codeNow(secret)))).toMatchObject(GOOD)
  const { flow } = await acme.halfway()
  for (let n = 0; n < 9; n++) await acme.send(flow, totp(acme.wrongTotp(secret)))
  expect(await acme.send(flow, totp(acme.nextCode(secret)))).toMatchObject(GOOD)
})

test('Wrong second factors are each counted if they arrive at once, and block no other person', async () => {
  const { acme, wrong } = await guessing(0)
  const bob = await acme.enrolled(BOB)
  const answers = await Promise.all(Array.from({ length: 15 }, wrong))
  const ids = answers.map(({ body }) => messageIds(body).at(-1))
  expect(ids.filter((id) => id === 'totp_code:4000008')).toHaveLength(10)
  expect(ids.filter((id) => id === BLOCKED)).toHaveLength(5)
  const { flow } = await acme.halfway(BOB)
  expect(await acme.send(flow, totp(acme.nextCode(bob.secret)))).toMatchObject(GOOD)
})

test('Removing an authenticator removes the recovery codes too, and ends waiting sign-ins', async () => {
  const { acme, token, identity, secret, half, send } = await signingIn()
  const bob = await acme.register(BOB)
  expect(await acme.change(bob.session_token, REMOVE)).toMatchObject(complains(4000011))
  await acme.makeRecoveryCodes(token)
  expect(factorNodes(await acme.settings(token))).toEqual([
    'totp:totp_unlink=true',
    'lookup_secret:lookup_secret_regenerate=true',
    'lookup_secret:lookup_secret_disable=true',
  ])
  const removed = { status: 200, body: { state: 'success' } }
  expect(await acme.change(token, REMOVE)).toMatchObject(removed)
  expect(await acme.credentialsOf(identity)).toEqual(['password'])
  expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.authenticator_removed')
  expect(nodeNames(await acme.settings(token))).toContain('totp:totp_code')
  // The password suffices again, also for sessions that owed a code.
  expect(await acme.whoami(half)).toMatchObject(GOOD)
  expect((await send(totp(acme.nextCode(secret)))).status).toBe(422)
})

test('While the tenant has second factors off, none is asked for or set up, and all are kept', async () => {
  const { acme, token, secret, identity, half } = await signingIn()
  const bob = await acme.register(BOB)
  const setUp = await acme.settings(bob.session_token)
  const { credentials } = await acme.readIdentity(identity)
  await acme.security({ mfa_enabled: false })
  expect(await acme.whoami(half)).toMatchObject(GOOD)
  expect((await acme.signIn(ADA)).session.identity).toMatchObject({ id: identity.id })
  expect(factorNodes(await acme.settings(token))).toEqual([])
  const off = complains(4010004)
  for (const fields of [CODES.make, REMOVE])
    expect(await acme.change(token, fields)).toMatchObject(off)
  const bobs = totp(codeNow(secretIn(setUp)))
  expect(await acme.send(setUp, bobs, withToken(bob.session_token))).toMatchObject(off)
  expect((await acme.readIdentity(identity)).credentials).toEqual(credentials)

  await acme.security({ mfa_enabled: true })
  expect(await acme.whoami(half)).toMatchObject({ status: 403 })
  const { flow } = await acme.halfway()
  expect(await acme.send(flow, totp(acme.nextCode(secret)))).toMatchObject(GOOD)
})

const WRONG_CODE = complains(4000016, 'lookup_secret')

async function withAuthenticator() {
  const acme = await newTenant()
  return { acme, ...(await acme.enrolled()) }
}

async function withCodes() {
  const of = await withAuthenticator()
  const codes = await of.acme.makeRecoveryCodes(of.token)
  return { ...of, codes, code: codes[0] as string }
}

const lookupNodes = (flow: Json) =>
  nodeNames(flow).flatMap((name) => /^lookup_secret:(.*)/.exec(name)?.[1] ?? [])

const signInWith = async (acme: Tenant, code: unknown) =>
  acme.send((await acme.halfway()).flow, lookup(code))

const kept = (identity: Json): Json[] => {
  const row = rowsOf(app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === identity.id && type === 'lookup_secret',
  )
  return row ? JSON.parse(row.config).codes : []
}

/** Creates codes without confirming them. */
async function shown(acme: Tenant, token: string) {
  const flow = await acme.sendWell(await acme.settings(token), CODES.make, withToken(token))
  const keep = () => acme.send(flow, CODES.keep, withToken(token))
  return { flow, codes: codesShown(flow), keep }
}

test('New recovery codes are ten different ones, shown until they are confirmed, and kept as hashes', async () => {
  const { acme, token, identity } = await withAuthenticator()
  const { flow, codes, keep } = await shown(acme, token)
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
  expect(flow).toMatchObject({ state: 'show_form', active: 'lookup_secret' })
  expect(lookupNodes(flow)).toEqual(['lookup_secret_codes', 'lookup_secret_confirm=true'])
  const failed = await acme.send(flow, { method: 'password', password: 'x' }, withToken(token))
  expect(codesShown(failed.body)).toEqual(codes)
  const [code = ''] = codes
  const plain = code.replace('-', '')
  for (const text of [code, plain]) expect(tablesWith(app, text)).toEqual({})
  expect((await keep()).body.state).toBe('success')
  const { body } = await acme.readAt(flow.ui.action, withToken(token))
  for (const text of [body, app.log]) expect(JSON.stringify(text)).not.toContain(code)
  expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.recovery_codes_made')

  const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(kept(identity)).toEqual(Array.from({ length: 10 }, () => ({ hash, usedAt: null })))
  const { file } = app.db
  const bytes = [file, `${file}-wal`].map((name) => readFileSync(name).toString('latin1')).join('')
  expect(bytes).toContain(kept(identity)[0].hash)
  for (const text of [code, plain]) expect(bytes).not.toContain(text)
  const guesses = [code, plain, `${identity.id} ${plain}`].map((text) =>
    new Bun.CryptoHasher('sha256').update(text).digest('hex'),
  )
  for (const { hash } of kept(identity)) expect(guesses).not.toContain(hash)
})

test('New recovery codes work once they are confirmed; earlier ones work until then', async () => {
  const { acme, token } = await withAuthenticator()
  const first = await shown(acme, token)
  expect(await signInWith(acme, first.codes[0])).toMatchObject({ status: 422 })
  await first.keep()
  expect(await signInWith(acme, first.codes[0])).toMatchObject(GOOD)

  const second = await shown(acme, token)
  // A flow shows one set of codes: the latest.
  const next = codesShown(await acme.sendWell(second.flow, CODES.make, withToken(token)))
  expect(next.filter((code) => second.codes.includes(code))).toEqual([])
  expect(await signInWith(acme, first.codes[1])).toMatchObject(GOOD)
  expect(await signInWith(acme, next[0])).toMatchObject(WRONG_CODE)
  await second.keep()
  for (const code of [first.codes[2], second.codes[0]])
    expect(await signInWith(acme, code)).toMatchObject(WRONG_CODE)
  expect(await signInWith(acme, next[0])).toMatchObject(GOOD)
})

test('New recovery codes are not stored if the flow ends otherwise, or before they were shown', async () => {
  const { acme, token, identity } = await withAuthenticator()
  expect(await acme.change(token, CODES.keep)).toMatchObject(complains(4000014))
  const { flow, keep } = await shown(acme, token)
  await acme.sendWell(flow, { method: 'profile', traits: { email: ADA } }, withToken(token))
  expect(await keep()).toMatchObject(complains(4050001))
  expect(kept(identity)).toEqual([])
})

test('A recovery code replaces the code of the authenticator, in the same session', async () => {
  const { acme, secret, code } = await withCodes()
  const bob = await acme.enrolled(BOB)
  const [bobs] = await acme.makeRecoveryCodes(bob.token)
  const { flow, token: half } = await acme.halfway()
  const fields = ['lookup_secret:lookup_secret', 'lookup_secret:method=lookup_secret']
  expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp', ...fields])
  for (const typed of ['zzzz-zzzz', bobs, acme.nextCode(secret)]) {
    const answer = await acme.send(flow, lookup(typed))
    expect(node(answer.body, 'lookup_secret').attributes.value).toBe('')
    expect(answer).toMatchObject(WRONG_CODE)
  }
  const done = { status: 200, body: { session_token: half, session: AAL2 } }
  expect(await acme.send(flow, { lookup_secret: code })).toMatchObject(done)
  const { authentication_methods: methods } = await acme.sessionOf(half)
  expect(methods.at(-1)).toMatchObject({ method: 'lookup_secret', aal: 'aal2' })
})

test('A recovery code works once, for one of two sign-ins at once', async () => {
  const { acme, identity, codes, code } = await withCodes()
  const halves = [await acme.halfway(), await acme.halfway()]
  const answers = await Promise.all(halves.map(({ flow }) => acme.send(flow, lookup(code))))
  const [good, refused] = answers.toSorted((a, b) => a.status - b.status)
  expect(good).toMatchObject(GOOD)
  expect(refused).toMatchObject(complains(4000012, 'lookup_secret'))
  expect(await signInWith(acme, codes[1])).toMatchObject(GOOD)
  expect(await signInWith(acme, codes[1])).toMatchObject(complains(4000012, 'lookup_secret'))
  expect(kept(identity).filter(({ usedAt }) => typeof usedAt === 'number')).toHaveLength(2)
})

test('Recovery codes are no way in without an authenticator', async () => {
  const acme = await newTenant()
  const { session_token, identity } = await acme.register(ADA)
  const [code] = await acme.makeRecoveryCodes(session_token)
  expect((await acme.signIn(ADA)).session.identity).toMatchObject({ id: identity.id })
  const flow = await acme.start('login')
  expect(await acme.send(flow, lookup(code))).toMatchObject(complains(4010002))
})

test('Recovery codes are not shown again, and are removed without the authenticator', async () => {
  const { acme, token, identity, code } = await withCodes()
  const flow = await acme.settings(token)
  expect(lookupNodes(flow)).toEqual(['lookup_secret_regenerate=true', 'lookup_secret_disable=true'])
  const reveal = { method: 'lookup_secret', lookup_secret_reveal: true }
  const { status, body } = await acme.send(flow, reveal, withToken(token))
  expect([status, messageIds(body)]).toEqual([422, [4900007]])
  const { credentials } = await acme.readIdentity(identity)
  expect(Object.keys(credentials).toSorted()).toEqual(['lookup_secret', 'password', 'totp'])
  for (const text of [body, credentials]) expect(JSON.stringify(text)).not.toContain(code)

  const removed = await acme.change(token, CODES.remove)
  expect(removed).toMatchObject({ status: 200, body: { state: 'success' } })
  expect(kept(identity)).toEqual([])
  expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.recovery_codes_removed')
  const half = await acme.halfway()
  expect(nodeNames(half.flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
  expect(await acme.send(half.flow, lookup(code))).toMatchObject({ status: 422 })
})
