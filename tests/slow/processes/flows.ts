import { openDatabase } from '../../../src/db/open.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createBodies } from '../../../src/platform/mail/body.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { AUTH, csrfOf, pathOf } from '../../engines/gate/sign-in/flows/fixture.ts'
import type { Server } from '../../support/binary.ts'
import { IDENTITIES } from '../resilience/support/api.ts'
import type { Answered, Json } from '../resilience/support/client.ts'
import { openInstallation } from '../resilience/support/installation.ts'

/** Cheap password hashes, and no limits on attempts from one address. */
const SETTINGS = {
  GATEHOUSE_GATE_PASSWORD_MEMORY: '8MB',
  GATEHOUSE_GATE_PASSWORD_ITERATIONS: '1',
  GATEHOUSE_LIMITS_SIGN_INS_PER_MINUTE: '1000000',
  GATEHOUSE_LIMITS_SIGN_INS_PER_IDENTIFIER_PER_MINUTE: '1000000',
}

export type Flows = Awaited<ReturnType<typeof openFlows>>

/** An installation with the flows of one tenant, at any of its processes. */
export async function openFlows(stack: AsyncDisposableStack) {
  const installation = openInstallation(stack, { settings: SETTINGS })
  const gate = installation.newClient(installation.newTenant(), 'gate')
  const [first] = (await installation.running(1)) as [Server]
  const switches = { passwordless_enabled: true, mfa_enabled: true }
  await gate.make(first, 'PUT', '/v1/gate/settings/security', switches)
  const db = openDatabase({ dataDir: installation.dataDir, synchronous: 'full' })
  const { dataDir } = installation
  const mails = createBodies(createSealing(await openKeyRing({ db, clock: systemClock, dataDir })))
  db.close()

  /** The codes in the mails to an address, which are never sent. */
  const codesTo = (address: string): string[] =>
    installation
      .rows<{ id: string; body: string }>(
        `SELECT id, body FROM mails WHERE recipient = '${address}' AND body IS NOT NULL ORDER BY seq`,
      )
      .flatMap(({ id, body }) => /^ {4}(\d{6})$/m.exec(mails.open(id, body).text)?.[1] ?? [])

  async function read(server: Server, path: string, token?: string): Promise<Json> {
    const answer = await gate.ask(server, 'GET', path, undefined, tokenHeader(token))
    if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const start = (server: Server, kind: string, token?: string): Promise<Json> =>
    read(server, `${AUTH}/${kind}`, token)

  /** Sends a form to its action, at any of the processes. */
  function send(server: Server, flow: Json, fields: Json, token?: string): Promise<Answered> {
    const body = { csrf_token: csrfOf(flow), ...fields }
    return gate.ask(server, 'POST', pathOf(flow.ui.action), body, tokenHeader(token))
  }

  return {
    ...{ ...installation, gate, codesTo, start, send },
    /** Reads a flow that another one led to. */
    follow: (server: Server, url: string, token?: string) => read(server, pathOf(url), token),
    tryPassword: async (server: Server, identifier: string, password: string) =>
      send(server, await start(server, 'login'), { method: 'password', identifier, password }),
    /** Creates an identity, without a mail. */
    create: (server: Server, email: string, fields: Json = {}): Promise<Json> =>
      gate.make(server, 'POST', IDENTITIES, { schema_id: 'user', traits: { email }, ...fields }),
    whoami: async (server: Server, token: string): Promise<number> => {
      const path = '/v1/gate/sessions/whoami'
      return (await gate.ask(server, 'GET', path, undefined, tokenHeader(token))).status
    },
  }
}

const tokenHeader = (token?: string): Record<string, string> =>
  token === undefined ? {} : { 'x-session-token': token }

/** The ids of a flow's errors, each once. */
export function errorsIn({ body }: Answered): number[] {
  const beside = (body.ui?.nodes ?? []).flatMap(({ messages }: Json) => messages)
  const errors = [...(body.ui?.messages ?? []), ...beside].filter(({ type }) => type === 'error')
  return [...new Set<number>(errors.map(({ id }) => id))]
}
