import type { IdentityRow } from '../../identities/store.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { Client } from './client.ts'
import type { FlowRepository, Holder } from './flow.ts'
import type { FlowRow } from './store.ts'

export type AccountHolder = ReturnType<typeof createAccountHolder>

/**
 * Whether the client that brings a code from a mailbox also holds the credentials of the account.
 * They may be two people, because anyone can sign up with someone else's address.
 */
export function createAccountHolder(parts: { repository: FlowRepository; sessions: Sessions }) {
  const { repository, sessions } = parts

  /**
   * Accepts a session of the identity shown by the client, the browser that signed up, or the flow
   * given to the program that signed the user up. Mails never contain that flow.
   */
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
