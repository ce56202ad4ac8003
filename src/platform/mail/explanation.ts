import type { NodemailerError } from 'nodemailer'
import { isAboutCertificate } from '../transport/failure.ts'
import { reasonOf } from './failure.ts'
import { type MailServer, secretsOf } from './server.ts'

export const TOO_SLOW =
  'did not respond in time: check the firewall and port, or use smtps:// instead of smtp://'

/** Why a mail server can't be used and what to do, as the rest of a sentence that begins with its address. */
export function explanationOf(
  error: NodemailerError & { originalCode?: string },
  server: MailServer,
): string {
  const { code, originalCode = '' } = error
  const said = reasonOf(error, secretsOf(server))
  // In the order of the connection's steps.
  if (code === 'EDNS') return `has no address in DNS (${originalCode}): check the host name`
  if (originalCode === 'ECONNREFUSED') return 'refuses the connection: check host and port'
  if (code === 'ETIMEDOUT' || originalCode === 'ETIMEDOUT') return TOO_SLOW
  if (isAboutCertificate(originalCode))
    return `has a certificate that is not trusted (${said}): use the host name in it, or renew it`
  if (code === 'ETLS' || /SSL|TLS|EPROTO/.test(`${originalCode} ${said}`))
    return `does not speak TLS as configured (${said}): use smtp:// for port 587, smtps:// for 465`
  if (code === 'EAUTH') return `refuses the login (${said}): check the user and password`
  if (code === 'EENVELOPE')
    return `refuses the sender or recipient (${said}): check the sender's domain and address`
  return `cannot be used: ${said}`
}
