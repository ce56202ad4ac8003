import { expect } from 'bun:test'
import { createStore } from '../../../../../src/engines/gate/store.ts'
import type { Answer, TestApp } from '../../../../support/app.ts'
import { type Gate, IDENTITIES, type Json } from '../../fixture.ts'
import { AUTH, bootFlows, type FlowFixture, type flowsOf, node, PASSWORD } from './fixture.ts'

export type Flows = ReturnType<typeof flowsOf>
/** One tenant, with its people and their flows. */
export type Party = Flows & Pick<Gate, 'api' | 'readIdentity' | 'setState' | 'whoami'>

/** How long a code is good, and a flow. */
export const CODE_MS = 15 * 60_000
export const FLOW_MS = 60 * 60_000
/** How long the link of a mail is good, at least. */
export const LINK_MS = 30 * 60_000
/** After it, an address may be written to again. */
export const MAIL_GAP_MS = 30_000

/** For more people than one client could ask for within a minute. */
export const bootCrowd = () => bootFlows({ flags: { 'limits-sign-ins-per-minute': '1000000' } })

/** Somebody with a password, made by the tenant: nothing is mailed for that. */
export async function person(
  { api }: Pick<Party, 'api'>,
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

/** Somebody whose address is not proven, and who has nothing yet to sign in with. */
export const unproven = (party: Pick<Party, 'api'>, email: string, fields: Json = {}) =>
  person(party, email, { isProven: false, password: null, ...fields })

/** The ways by which a form of recovery or verification comes in. */
export const WAYS: [string, (fixture: FlowFixture, flow: Json, fields: Json) => Promise<Answer>][] =
  [
    ['by the action of the flow', ({ send }, flow, fields) => send(flow, fields)],
    [
      "by the tenant's key, the flow in the body",
      ({ submit }, flow, fields) => submit(kindOf(flow), { flow: flow.id, ...fields }),
    ],
    [
      "by the tenant's key, the flow in the query",
      ({ app, key }, flow, fields) =>
        app.raw(`${AUTH}/${kindOf(flow)}/submit?flow=${flow.id}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(fields),
        }),
    ],
  ]

/** The kind of a flow stands in its address alone. */
export const kindOf = ({ ui }: Json): string => new URL(ui.action).pathname.split('/').at(-1) ?? ''

/** The same flow as JSON, as whoever knows its id gets it. */
export const read = ({ app }: { app: TestApp }, flow: Json, query = ''): Promise<Answer> =>
  app.raw(new URL(flow.ui.action).pathname + new URL(flow.ui.action).search + query)

/** So many codes that are not this one, no two alike. */
export const wrongCodes = (right: string, most = 5): string[] =>
  Array.from({ length: most }, (_, n) =>
    ((Number(right) + n + 1) % 1_000_000).toString().padStart(6, '0'),
  )

export const wrongCode = (right: string): string => wrongCodes(right, 1)[0] as string

/** What a flow has beside its form, once an answer is as it should be. */
export function flowIn(answer: Answer, status: number, state: string): Json {
  expect(answer).toMatchObject({ status, body: { state } })
  return answer.body
}

/**
 * What is wrong with a form: `field:id` where it has a field, `id` where it has none. All of it
 * stands above the form as well.
 */
export function complaintsIn({ ui }: Json): (number | string)[] {
  const errors = (messages: Json[] = []): number[] =>
    messages.filter(({ type }) => type === 'error').map(({ id }) => id)
  const above = errors(ui.messages)
  const beside = ui.nodes.flatMap(({ attributes, messages }: Json) =>
    errors(messages).map((id) => [attributes.name, id] as const),
  )
  for (const [, id] of beside) expect(above).toContain(id)
  return [
    ...beside.map(([name, id]: [string, number]) => `${name}:${id}`),
    ...above.filter((id) => !beside.some(([, other]: [string, number]) => other === id)),
  ]
}

/** Asks for a code in a new flow; what comes back is the flow that waits for it. */
export async function asked(
  party: Pick<Flows, 'start' | 'send'>,
  kind: 'login' | 'recovery' | 'verification',
  address: string,
): Promise<Json> {
  const field = kind === 'login' ? 'identifier' : 'email'
  const flow = await party.start(kind)
  return flowIn(await party.send(flow, { method: 'code', [field]: address }), 200, 'sent_email')
}

/** Asks for a way back in and takes it: the token of the session that it leads to. */
export async function recover(party: Pick<Flows, 'start' | 'send' | 'codeFor'>, address: string) {
  const flow = await asked(party, 'recovery', address)
  const answer = await party.send(flow, { method: 'code', code: party.codeFor(address) })
  flowIn(answer, 200, 'passed_challenge')
  return tokenIn(answer)
}

/** The token of the session that a recovery leads to. */
export const tokenIn = ({ body }: Answer): string =>
  body.continue_with.find(({ action }: Json) => action === 'set_ory_session_token')
    .ory_session_token

/** The flow that is to be gone on with. */
export const nextFlowIn = ({ body }: { body: Json }, action: string): Json =>
  body.continue_with?.find((one: Json) => one.action === action)?.flow

/** Whoever a session belongs to, or the status of the refusal. */
export async function whose({ whoami }: Pick<Party, 'whoami'>, token: string) {
  const { status, body } = await whoami(token)
  return status === 200 ? body.identity.id : status
}

/** An account elsewhere of somebody, as if they had come back with it. */
export const connect = (
  { app, tenantId }: { app: TestApp; tenantId: string },
  { id }: { id: string },
  provider: 'github' | 'google' = 'github',
  subject = `${provider}-of-${id}`,
) =>
  app.db.commit(() =>
    createStore(app.db).socialLinks.insert({
      tenantId,
      provider,
      subject,
      identityId: id,
      tokens: null,
      createdAt: app.clock.now(),
      updatedAt: app.clock.now(),
    }),
  )

/** By what somebody can sign in, as the tenant sees it. */
export async function credentialsOf(
  { readIdentity }: Pick<Party, 'readIdentity'>,
  identity: { id: string },
): Promise<string[]> {
  return Object.keys((await readIdentity(identity)).credentials).sort()
}

/** Recovery codes of somebody, shown and confirmed; ten of them. */
export async function makeRecoveryCodes(
  party: Pick<Flows, 'settings' | 'send'>,
  token: string,
): Promise<string[]> {
  const headers = { 'x-session-token': token }
  const method = 'lookup_secret'
  const flow = await party.settings(token)
  const shown = await party.send(flow, { method, lookup_secret_regenerate: true }, headers)
  expect(shown).toMatchObject({ status: 200 })
  const kept = await party.send(flow, { method, lookup_secret_confirm: true }, headers)
  flowIn(kept, 200, 'success')
  const { secrets } = node(shown.body, 'lookup_secret_codes').attributes.text.context
  return secrets.map(({ context }: Json) => context.secret)
}

/** What of a flow is shown for good: without nodes and messages. */
export const factsOf = ({ ui, ...facts }: Json): Json => ({
  ...facts,
  action: ui.action,
  method: ui.method,
})

/** What a withheld mail to an address says, newest first; of any other its state. */
export const fatesOf = ({ mailsTo }: Pick<Flows, 'mailsTo'>, address: string): string[] =>
  mailsTo(address).map((mail) => mail?.lastError ?? mail?.state ?? '')
