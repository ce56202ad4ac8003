import type { IdentityRow } from '../../identities/store.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { Client } from './client.ts'
import type { FlowRepository, Holder } from './flow.ts'
import type { FlowRow } from './store.ts'

export type AccountHolder = ReturnType<typeof createAccountHolder>

/** Whether a client with a mailed code owns the account, which a stranger may have created. */
export function createAccountHolder(parts: { repository: FlowRepository; sessions: Sessions }) {
  const { repository, sessions } = parts

  /** Accepts a session, the browser that signed up, or a program's flow; no mail contains it. */
  function isHolder(flow: FlowRow, person: IdentityRow, client: Client): boolean {
    if (client.sessionToken !== undefined) return hasSession(client, person)
    if (flow.identityId !== person.id) return false
    const { holder } = repository.internalOf(flow)
    if (holder === undefined) return false
    return holder === 'program'
      ? client.wants === 'json'
      : client.wants === 'page' && holder.browserHash === client.browserHash
  }

  function hasSession({ sessionToken }: Client, { tenantId, id }: IdentityRow): boolean {
    const row = sessions.ofToken(sessionToken, tenantId)
    return row?.identity_id === id && !sessions.owes(row)
  }

  return { isHolder }
}

/** The holder of a flow that a client has just started. */
export const holderOf = ({ wants, browserHash }: Client): Holder =>
  wants === 'page' && browserHash !== null ? { browserHash } : 'program'
