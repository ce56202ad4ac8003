import type { Db } from '../../db/open.ts'
import type { Operator } from '../../engines/gate/house/roster.ts'
import type { Actor } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { conflict, rateLimited } from '../../platform/errors.ts'
import { HOUSE_ID } from '../../platform/house.ts'
import { letter, type Mail } from '../../platform/mail/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { type Links, SIGN_IN_MS } from './links.ts'

/** As mails are counted by it. */
const KIND = 'login_link'

/**
 * Links that sign an operator in, made by whoever runs the installation. To have one is to be that
 * operator, in all their tenants: where mails go out, it goes to them alone.
 */
export function createLoginLinks(parts: {
  db: Db
  clock: Clock
  links: Links
  tenants: Pick<Tenants, 'nameOf'>
  mail: Pick<Mail, 'post' | 'allowance' | 'hasServer'>
  /** The page that a token leads to. */
  pageOf: (token: string) => string
}) {
  const { db, clock, links, tenants, mail, pageOf } = parts

  /** The link, where there is no server for mail; else undefined, and it is on its way. */
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
    const name = tenants.nameOf(HOUSE_ID)
    const subject = `Your link to sign in to ${name}`
    const body = letter({
      language: 'en',
      tenantName: name,
      heading: 'Sign in by link',
      paragraphs: [
        `Whoever runs ${name} has made a link that signs you in. It is good once, for ` +
          `${SIGN_IN_MS / 60_000} minutes.`,
      ],
      link: { label: 'Sign in', url, orOpen: 'Or open this address:' },
      footer: 'If you asked nobody for it, leave it: without a click nothing happens.',
    })
    const of = { tenantId: null, about: `operator:${id}`, kind: KIND, recipient: email }
    mail.post({ ...of, ...body, subject, expiresAt: now + SIGN_IN_MS }, now)
  }

  return {
    make,
    /** Whether it goes by mail, and nobody else sees it. */
    isMailed: mail.hasServer,
  }
}
