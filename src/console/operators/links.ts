import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { AppError, conflict, fail } from '../../platform/errors.ts'
import type { OperatorStore } from './store/index.ts'
import type { LinkRow } from './store/links.ts'

/** Lifetimes of links. */
export const SET_UP_MS = 30 * MINUTE_MS
export const SIGN_IN_MS = 10 * MINUTE_MS

export type Links = ReturnType<typeof createLinks>

/** One-time sign-in links for set-up and lost access. Commands on the data can create them. */
export function createLinks(parts: { db: Db; clock: Clock; audit: Audit; store: OperatorStore }) {
  const { db, clock, audit, store } = parts

  /** Token of a set-up link. Throws `conflict` once the installation has an admin. */
  const issueSetUp = (): Promise<string> =>
    db.commit(() => {
      if (store.hasAdmin()) throw conflict('the installation is already set up')
      return issue(null, SET_UP_MS)
    })

  /** Token of a sign-in link. */
  const issueSignIn = (actor: Actor, operatorId: string): Promise<string> =>
    db.commit(() => addSignIn(actor, operatorId))

  /** Like `issueSignIn`, within a commit. `mailedTo` is the address of a link that is only emailed. */
  function addSignIn(actor: Actor, operatorId: string, mailedTo: string | null = null): string {
    audit.recordForOperators({
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

  /** A valid link, without using it up. */
  function peek(token: string): LinkRow | undefined {
    const row = isMinted(token) ? store.link(sha256(token)) : undefined
    if (!row || clock.now() >= row.expiresAt) return undefined
    return row.operatorId === null && store.hasAdmin() ? undefined : row
  }

  /** Uses up a sign-in link, within a commit. Throws `not_found` for an invalid one. */
  function useSignIn(token: string): LinkRow & { operatorId: string } {
    const { tokenHash, operatorId, ...row } = peek(token) ?? fail(usedUp())
    if (operatorId === null) throw usedUp()
    store.removeLink(tokenHash)
    return { ...row, tokenHash, operatorId }
  }

  /** Uses up a set-up link, within a commit. Throws `not_found` for any other link. */
  function useSetUp(token: string) {
    if (!isForSetUp(token)) throw usedUp()
    store.removeSetUpLinks()
  }

  const isForSetUp = (token: string): boolean => peek(token)?.operatorId === null

  return { issueSetUp, issueSignIn, addSignIn, peek, isForSetUp, useSetUp, useSignIn }
}

const usedUp = () =>
  new AppError('not_found', 'the link was used or has expired', { code: 'link_used_up' })
