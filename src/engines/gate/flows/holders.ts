import type { Sessions } from '../sessions.ts'
import type { FlowRow } from '../store/flows.ts'
import type { IdentityRow } from '../store/identities.ts'
import type { SessionWithIdentity } from '../store/sessions.ts'
import type { Client } from './client.ts'
import type { FlowKeeper, Holder } from './flow.ts'

export type Holders = ReturnType<typeof createHolders>

/**
 * Whether whoever brings a code from a mailbox is the one who has the credentials of the account.
 * The two may be different people: anybody can sign up with the address of another.
 */
export function createHolders(parts: { keeper: FlowKeeper; sessions: Sessions }) {
  const { keeper, sessions } = parts

  /**
   * By a session of the person that the client shows; else by the browser that signed up, or by the
   * flow that a program was handed when it signed the person up. Mails do not name that flow.
   */
  function isHolder(flow: FlowRow, person: IdentityRow, client: Client): boolean {
    if (client.sessionToken !== undefined) return sessionOf(client, person) !== undefined
    if (flow.identityId !== person.id) return false
    const { holder } = keeper.internalOf(flow)
    if (holder === undefined) return false
    return holder === 'program'
      ? client.wants === 'json'
      : client.wants === 'page' && holder.browserHash === client.browserHash
  }

  function sessionOf({ sessionToken }: Client, person: IdentityRow) {
    const row = sessions.ofToken(sessionToken, person.tenantId)
    return row && isComplete(row) && row.identity_id === person.id ? row : undefined
  }

  const isComplete = (row: SessionWithIdentity): boolean => !sessions.owes(row)

  return { isHolder }
}

/** Who is to be the holder of what a client has just begun. */
export const holderOf = ({ wants, browserHash }: Client): Holder =>
  wants === 'page' && browserHash !== null ? { browserHash } : 'program'
