import { afterAll, expect } from 'bun:test'
import type { Answer, TestApp, TestAppOptions } from '../../../../support/app.ts'
import { type Gate, IDENTITIES, type Json } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import { recoveryCodes, UNHURRIED } from './acts.ts'
import { bootChecked, saidIn } from './checked.ts'
import { AUTH, type FlowFixture, flowParty, type flowsOf, PASSWORD } from './fixture.ts'

export type Flows = ReturnType<typeof flowsOf>
export type Tenant = Awaited<ReturnType<Awaited<ReturnType<typeof useFlows>>['newTenant']>>

/** Lifetimes of a code, of a flow and, at least, of the link in an email. */
export const CODE_MS = 15 * 60_000
export const FLOW_MS = 60 * 60_000
export const LINK_MS = 30 * 60_000
/** The least time between two emails to an address. */
export const MAIL_GAP_MS = 30_000

export const HOSTED = 'http://127.0.0.1:8420/auth/self-service'

type Switches = Parameters<Flows['security']>[0]

/** The flows of a test file, booted once; each test takes a tenant of its own. */
export async function useFlows(options: TestAppOptions = {}) {
  const fixture = await bootChecked({ ...options, flags: { ...UNHURRIED, ...options.flags } })
  afterAll(fixture.app.stop)

  async function newTenant(switches?: Switches, name?: string) {
    const tenant = { ...fixture, ...(await flowParty(fixture.app, name)) }
    if (switches) await tenant.security(switches)
    return tenant
  }
  return { ...fixture, newTenant }
}

export const isoAt = (ms: number) => new Date(ms).toISOString()

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

/** A person who is signed in. */
export async function signedIn(tenant: Tenant, email: string, fields: Json = {}) {
  const identity = await person(tenant, email, fields)
  const { session_token: token } = await tenant.signIn(email)
  return { email, identity, token: token as string }
}

/** The ways to submit a form of recovery or verification. */
export const WAYS: [string, (tenant: FlowFixture, flow: Json, fields: Json) => Promise<Answer>][] =
  [
    ['to the action of the flow', ({ send }, flow, fields) => send(flow, fields)],
    [
      "with the tenant's key and the flow in the body",
      ({ submit }, flow, fields) => submit(kindOf(flow), { flow: flow.id, ...fields }),
    ],
    [
      "with the tenant's key and the flow in the query",
      ({ app, key }, flow, fields) =>
        app.raw(`${AUTH}/${kindOf(flow)}/submit?flow=${flow.id}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(fields),
        }),
    ],
  ]

const kindOf = ({ ui }: Json): string => new URL(ui.action).pathname.split('/').at(-1) ?? ''

/** The flow as JSON, for anyone who knows its id. */
export const read = ({ app }: { app: TestApp }, flow: Json, query = ''): Promise<Answer> =>
  app.raw(new URL(flow.ui.action).pathname + new URL(flow.ui.action).search + query)

/** Distinct codes that differ from this one. */
export const wrongCodes = (right: string, most = 5): string[] =>
  Array.from({ length: most }, (_, n) =>
    ((Number(right) + n + 1) % 1_000_000).toString().padStart(6, '0'),
  )

export const wrongCode = (right: string): string => wrongCodes(right, 1)[0] as string

/** The body of an answer with this status and state. */
export function flowIn(answer: Answer, status: number, state: string): Json {
  expect(answer).toMatchObject({ status, body: { state } })
  return answer.body
}

/** The errors of a flow, as `saidIn` has them. */
export const complaintsIn = (flow: Json) =>
  saidIn(flow).filter((id) => /(^|:)4\d{6}$/.test(`${id}`))

/** Asks for a code in a new flow, and returns the flow that waits for it. */
export async function asked(
  party: Pick<Flows, 'start' | 'send'>,
  kind: 'login' | 'recovery' | 'verification',
  address: string,
): Promise<Json> {
  const field = kind === 'login' ? 'identifier' : 'email'
  const flow = await party.start(kind)
  return flowIn(await party.send(flow, { method: 'code', [field]: address }), 200, 'sent_email')
}

/** A flow that waits for a code, and that code. */
export async function waiting(
  party: Pick<Flows, 'start' | 'send' | 'codeFor'>,
  kind: 'login' | 'recovery' | 'verification',
  address: string,
) {
  const flow = await asked(party, kind, address)
  return { flow, code: party.codeFor(address) }
}

/** Recovers an account by email: the token of the new session. */
export async function recover(party: Pick<Flows, 'start' | 'send' | 'codeFor'>, address: string) {
  const { flow, code } = await waiting(party, 'recovery', address)
  const answer = await party.send(flow, { method: 'code', code })
  flowIn(answer, 200, 'passed_challenge')
  return tokenIn(answer)
}

export const tokenIn = ({ body }: Answer): string =>
  body.continue_with.find(({ action }: Json) => action === 'set_ory_session_token')
    .ory_session_token

/** The flow to continue with. */
export const nextFlowIn = ({ body }: { body: Json }, action: string): Json =>
  body.continue_with?.find((one: Json) => one.action === action)?.flow

/** Asks for another address: the flow that waits for its code. */
export async function changeAddress(tenant: Flows & FlowFixture, token: string, email: string) {
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

export const sessionsOf = async (
  { api }: Pick<Gate, 'api'>,
  { id }: { id: string },
): Promise<Json[]> => (await api.get(`${IDENTITIES}/${id}/sessions`)).body

/** The types of credentials that the tenant sees. */
export async function credentialsOf(
  { readIdentity }: Pick<Gate, 'readIdentity'>,
  identity: { id: string },
): Promise<string[]> {
  return Object.keys((await readIdentity(identity)).credentials).sort()
}

export const addressOf = async (
  { readIdentity }: Pick<Gate, 'readIdentity'>,
  identity: { id: string },
): Promise<Json> => (await readIdentity(identity)).verifiable_addresses[0]

export const emailOf = async (tenant: Pick<Gate, 'readIdentity'>, identity: { id: string }) =>
  (await tenant.readIdentity(identity)).traits.email

/** The stored codes of a flow. */
export const codeRows = ({ app }: { app: TestApp }, { id }: Json): Json[] =>
  rowsOf(app, 'gate_codes').filter(({ flow_id }) => flow_id === id)

export const makeRecoveryCodes = (
  party: Pick<Flows, 'settings' | 'sendWell'>,
  token: string,
): Promise<string[]> => recoveryCodes(party as FlowFixture, token)

/** The public facts of a flow: without nodes and messages. */
export const factsOf = ({ ui, ...facts }: Json): Json => ({
  ...facts,
  action: ui.action,
  method: ui.method,
})

/** Why each email to an address was withheld, newest first, or else its state. */
export const fatesOf = ({ mailsTo }: Pick<Flows, 'mailsTo'>, address: string): string[] =>
  mailsTo(address).map((mail) => mail?.lastError ?? mail?.state ?? '')
