import type { Db } from '../../db/open.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import type { Actor } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { conflict, rateLimited } from '../../platform/errors.ts'
import { type Mail, renderMail } from '../../platform/mail/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { type Links, SIGN_IN_MS } from './links.ts'

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
        throw conflict('the account of this operator is deactivated')
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
    isMailed: mail.hasServer,
  }
}
