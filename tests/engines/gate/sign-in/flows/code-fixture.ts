import { afterAll, expect } from 'bun:test'
import type { Answer, TestApp, TestAppOptions } from '../../../../support/app.ts'
import { type Gate, IDENTITIES, type Json, rowsOf } from '../../fixture.ts'
import * as acts from './acts.ts'
import { describedApp, flowIn, listening, nextFlowIn, tokenIn } from './checked.ts'
import { bootFlows, type FlowFixture, flowParty, flowsOf, PASSWORD } from './fixture.ts'

export { nextFlowIn, tokenIn } from './checked.ts'

type Flows = ReturnType<typeof flowsOf>
export type Tenant = Awaited<ReturnType<Awaited<ReturnType<typeof useFlows>>['newTenant']>>

/** Lifetimes of a code, of a flow and, at least, of the link in an email. */
export const CODE_MS = 15 * 60_000
export const FLOW_MS = 60 * 60_000
export const LINK_MS = 30 * 60_000
/** The least time between two emails to an address. */
export const MAIL_GAP_MS = 30_000

export const HOSTED = 'http://127.0.0.1:8420/auth/self-service'

/**
 * The flows of a test file, booted once, without limits on attempts: their JSON answers must match
 * the API document. Each test takes a tenant of its own, which has all helpers as methods.
 */
export async function useFlows(options: TestAppOptions = {}) {
  const flags = { ...acts.UNHURRIED, ...options.flags }
  const { app: plain, ...fixture } = await bootFlows({ ...options, flags })
  afterAll(plain.stop)
  const app = await describedApp(plain)
  const { clock } = fixture

  async function newTenant(switches?: Json, name = 'Acme') {
    const tenant = withHelpers({ app, clock, ...(await flowParty(app, name)) })
    if (switches) await tenant.security(switches)
    return tenant
  }
  return { ...fixture, ...flowsOf(app, fixture), app, newTenant }
}

type Bound<Helpers> = {
  [Name in keyof Helpers]: Helpers[Name] extends (tenant: never, ...rest: infer Rest) => infer A
    ? (...rest: Rest) => A
    : never
}

/** The tenant with the functions that take one first, as its methods. */
function withHelpers<T>(tenant: T): T & Bound<typeof HELPERS> {
  const bound = Object.entries(HELPERS).map(([name, helper]) => [
    name,
    (...rest: never[]) => (helper as (...all: unknown[]) => unknown)(tenant, ...rest),
  ])
  return { ...tenant, ...Object.fromEntries(bound) }
}

/** An identity with a verified address and a password, created by the tenant; sends no email. */
export async function person(
  { api }: Pick<Gate, 'api'>,
  email: string,
  { isProven = true, password = PASSWORD as string | null, ...fields }: Json = {},
): Promise<Json> {
  const answer = await api.post(IDENTITIES, {
    schema_id: 'user',
    traits: { email },
    ...(password !== null && { credentials: { password: { config: { password } } } }),
    ...(isProven && { verifiable_addresses: [{ value: email, verified: true }] }),
    ...fields,
  })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

/** An identity with an unverified address and no credentials. */
export const unproven = (party: Pick<Gate, 'api'>, email: string, fields: Json = {}) =>
  person(party, email, { isProven: false, password: null, ...fields })

async function signedIn(tenant: Flows & Pick<Gate, 'api'>, email: string, fields: Json = {}) {
  const identity = await person(tenant, email, fields)
  const { session_token: token } = await tenant.signIn(email)
  return { email, identity, token: token as string }
}

/** The ways to submit a form of recovery, verification or settings. */
export const WAYS: [string, (...of: Parameters<typeof acts.sendBare>) => Promise<Answer>][] = [
  ['to the action of the flow', acts.sendBare],
  [
    "with the tenant's key",
    ({ submit }, flow, fields, token) =>
      submit(kindOf(flow), { flow: flow.id, ...fields }, token ? acts.withToken(token) : {}),
  ],
]

const kindOf = ({ ui }: Json): string => new URL(ui.action).pathname.split('/').at(-1) ?? ''

/** The flow as JSON, for anyone who knows its id. */
export const read = ({ app }: { app: TestApp }, flow: Json, query = ''): Promise<Answer> =>
  app.raw(new URL(flow.ui.action).pathname + new URL(flow.ui.action).search + query)

export const wrongCodes = (right: string, most = 5): string[] =>
  Array.from({ length: most }, (_, n) =>
    ((Number(right) + n + 1) % 1_000_000).toString().padStart(6, '0'),
  )

export const wrongCode = (right: string): string => wrongCodes(right, 1)[0] as string

type CodeKind = 'login' | 'recovery' | 'verification'

type Asking = Pick<Flows, 'start' | 'send'>
type Reading = Asking & Pick<Flows, 'codeFor'>

/** Asks for a code in a new flow, and returns the flow that waits for it. */
export async function asked(party: Asking, kind: CodeKind, address: string): Promise<Json> {
  const field = kind === 'login' ? 'identifier' : 'email'
  const flow = await party.start(kind)
  return flowIn(await party.send(flow, { method: 'code', [field]: address }), 200, 'sent_email')
}

export async function waiting(party: Reading, kind: CodeKind, address: string) {
  const flow = await asked(party, kind, address)
  return { flow, code: party.codeFor(address) }
}

/** Recovers an account by email: the token of the new session. */
export async function recover(party: Reading, address: string) {
  const { flow, code } = await waiting(party, 'recovery', address)
  const answer = await party.send(flow, { method: 'code', code })
  flowIn(answer, 200, 'passed_challenge')
  return tokenIn(answer)
}

/** Asks for another address: the flow that waits for its code. */
export async function changeAddress(
  tenant: Pick<FlowFixture, 'app' | 'change'>,
  token: string,
  email: string,
) {
  const answer = await tenant.change(token, { method: 'profile', traits: { email } })
  flowIn(answer, 200, 'success')
  const { url } = nextFlowIn(answer, 'show_verification_ui')
  return (await read(tenant, { ui: { action: url } })).body as Json
}

/** The id of the owner of a session, or the status of the refusal. */
export async function whose({ whoami }: Pick<Gate, 'whoami'>, token: string) {
  const { status, body } = await whoami(token)
  return status === 200 ? body.identity.id : status
}

export const sessionsOf = async ({ api }: Pick<Gate, 'api'>, { id }: Json): Promise<Json[]> =>
  (await api.get(`${IDENTITIES}/${id}/sessions`)).body

type Reader = Pick<Gate, 'readIdentity'>

export const credentialsOf = async ({ readIdentity }: Reader, identity: Json): Promise<string[]> =>
  Object.keys((await readIdentity(identity)).credentials).sort()

export const addressOf = async ({ readIdentity }: Reader, identity: Json): Promise<Json> =>
  (await readIdentity(identity)).verifiable_addresses[0]

export const emailOf = async ({ readIdentity }: Reader, identity: Json): Promise<string> =>
  (await readIdentity(identity)).traits.email

export const codeRows = ({ app }: { app: TestApp }, { id }: Json): Json[] =>
  rowsOf(app, 'gate_codes').filter(({ flow_id }) => flow_id === id)

export const makeRecoveryCodes = acts.recoveryCodes

/** Why each email to an address was withheld, newest first, or else its state. */
const fatesOf = ({ mailsTo }: Pick<Flows, 'mailsTo'>, address: string): string[] =>
  mailsTo(address).map((mail) => mail?.lastError ?? mail?.state ?? '')

const {
  sessionOf,
  isAlive,
  sendBare,
  enrolled,
  halfway,
  nextCode,
  connect,
  wrongCode: wrongTotp,
} = acts
const HELPERS = {
  ...{ person, unproven, signedIn, enrolled, halfway, connect, nextCode, wrongTotp },
  ...{ asked, waiting, recover, changeAddress, makeRecoveryCodes, sendBare, listening },
  ...{
    whose,
    sessionOf,
    isAlive,
    sessionsOf,
    credentialsOf,
    addressOf,
    emailOf,
    codeRows,
    fatesOf,
  },
  // Without the token of a session.
  ...{ readFlow: read, readAt: acts.read },
}
