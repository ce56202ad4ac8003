import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { AppError, conflict, fail } from '../../platform/errors.ts'
import { HOUSE_ID } from '../../platform/house.ts'
import type { OperatorStore } from './store/index.ts'
import type { LinkRow } from './store/links.ts'

/** How long links live: long enough to walk over to another machine, and no longer. */
export const SET_UP_MS = 30 * 60_000
export const SIGN_IN_MS = 10 * 60_000

export type Links = ReturnType<typeof createLinks>

/**
 * Links that let somebody in once, without a password: the first operator, and one who has lost the
 * way in. Whoever may run commands on the data directory may make them.
 */
export function createLinks(parts: { db: Db; clock: Clock; audit: Audit; store: OperatorStore }) {
  const { db, clock, audit, store } = parts

  /** The token of a link for the first operator. Throws `conflict` once there is one. */
  const issueSetUp = (): Promise<string> =>
    db.commit(() => {
      if (store.hasAdmin()) throw conflict('the installation is already set up')
      return issue(null, SET_UP_MS)
    })

  /** The token of a link that signs an operator in. */
  const issueSignIn = (actor: Actor, operatorId: string): Promise<string> =>
    db.commit(() => addSignIn(actor, operatorId))

  /** The same within a commit; `mailedTo` is the address of a link that no one else gets to see. */
  function addSignIn(actor: Actor, operatorId: string, mailedTo: string | null = null): string {
    audit.record({
      tenantId: HOUSE_ID,
      actor,
      action: 'login_link.created',
      object: `operator:${operatorId}`,
    })
    return issue(operatorId, SIGN_IN_MS, mailedTo)
  }

  function issue(
    operatorId: string | null,
    lifetimeMs: number,
    mailedTo: string | null = null,
  ): string {
    const token = mintSecret()
    const now = clock.now()
    store.addLink({
      tokenHash: sha256(token),
      operatorId,
      mailedTo,
      createdAt: now,
      expiresAt: now + lifetimeMs,
    })
    return token
  }

  /** What a link is for, while it is good. Looking at it does not use it up. */
  function look(token: string): LinkRow | undefined {
    const row = isMinted(token) ? store.link(sha256(token)) : undefined
    if (!row || clock.now() >= row.expiresAt) return undefined
    return row.operatorId === null && store.hasAdmin() ? undefined : row
  }

  /** Within the commit of what it lets somebody do. Throws `not_found` for one that is not good. */
  function useSignIn(token: string): LinkRow & { operatorId: string } {
    const { tokenHash, operatorId, ...row } = look(token) ?? fail(usedUp())
    if (operatorId === null) throw usedUp()
    store.removeLink(tokenHash)
    return { ...row, tokenHash, operatorId }
  }

  /**
   * The same for set-up, which makes whoever does it run the installation: a link that signs
   * somebody in is as good as none.
   */
  function useSetUp(token: string) {
    if (!isForSetUp(token)) throw usedUp()
    store.removeSetUpLinks()
  }

  const isForSetUp = (token: string): boolean => look(token)?.operatorId === null

  return { issueSetUp, issueSignIn, addSignIn, look, isForSetUp, useSetUp, useSignIn }
}

const usedUp = () =>
  new AppError('not_found', 'the link was used or has expired', { code: 'link_used_up' })
