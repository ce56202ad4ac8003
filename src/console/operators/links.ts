import type { Db } from '../../db/open.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { AppError, conflict, fail, rateLimited } from '../../platform/errors.ts'
import { type Mail, renderMail } from '../../platform/mail/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
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

/** The mail kind that the throttle counts by. */
const KIND = 'login_link'

/**
 * Links that sign an operator in, created by an administrator. A link gives full access as that
 * operator in all their tenants, so with a mail server it is sent only to them.
 */
export function createLoginLinks(parts: {
  db: Db
  clock: Clock
  links: Links
  tenants: Pick<Tenants, 'installationName'>
  mail: Pick<Mail, 'post' | 'allowance' | 'hasServer'>
  /** The URL of the page for a token. */
  pageOf: (token: string) => string
}) {
  const { db, clock, links, tenants, mail, pageOf } = parts

  /** The link if there is no mail server; undefined if it was mailed to the operator. */
  const make = (actor: Actor, operator: Operator): Promise<string | undefined> =>
    db.commit(() => {
      if (operator.state === 'inactive')
        throw conflict('the account of this operator is deactivated. Reactivate it first')
      const mailedTo = mail.hasServer ? operator.email : null
      const url = pageOf(links.addSignIn(actor, operator.id, mailedTo))
      if (mailedTo === null) return url
      const allowance = mail.allowance(null, operator.email, clock.now(), KIND)
      if (!allowance.allowed)
        throw rateLimited('this operator was sent a link recently', {
          retryAfterMs: allowance.retryAfterMs,
        })
      post(operator, url)
      return undefined
    })

  function post({ id, email }: Operator, url: string) {
    const now = clock.now()
    const name = tenants.installationName()
    const subject = `Your sign-in link for ${name}`
    const body = renderMail({
      language: 'en',
      tenantName: name,
      heading: 'Your sign-in link',
      paragraphs: [
        `An administrator of ${name} created this link to sign you in. It works once and ` +
          `expires in ${SIGN_IN_MS / MINUTE_MS} minutes.`,
      ],
      link: { label: 'Sign in', url, orOpen: 'Or copy this link into your browser:' },
      footer:
        "If you didn't ask for this link, ignore this email. Nothing happens unless you open the link.",
    })
    const of = { tenantId: null, about: `operator:${id}`, kind: KIND, recipient: email }
    mail.post({ ...of, ...body, subject, expiresAt: now + SIGN_IN_MS }, now)
  }

  return {
    make,
    /** Whether links are mailed to the operator, and shown to no one else. */
    get isMailed() {
      return mail.hasServer
    },
  }
}
