import { createTransport, type NodemailerError } from 'nodemailer'
import type { Config } from '../../config/index.ts'
import { reasonOf } from '../../platform/mail/failure.ts'
import {
  type MailServer,
  mailServerOf,
  secretsOf,
  transportOptions,
} from '../../platform/mail/server.ts'
import { type Finding, ok, problem, within } from './finding.ts'
import { isAboutCertificate } from './words.ts'

const check = 'mail server'
const MAX_MS = 10_000

export interface MailServerOptions {
  /** Additional trusted root certificates, PEM. */
  ca?: string[]
  timeoutMs?: number
}

/** Connects to the mail server and signs in, without sending anything. */
export async function mailServer(
  { mail }: Pick<Config, 'mail'>,
  { ca, timeoutMs = MAX_MS }: MailServerOptions = {},
): Promise<Finding[]> {
  if (mail.smtpUrl === undefined)
    return [ok(check, 'not set up; emails are held. Set [mail] smtp_url and from')]
  if (mail.from === undefined) return [problem(check, 'set [mail] from, the sender of all emails')]
  const server = mailServerOf(mail.smtpUrl)
  const address = `${server.host}:${server.port}`
  const issue = await issueWith(server, { ca, timeoutMs })
  return [issue ? problem(check, `${address} ${issue}`) : ok(check, `${address} accepts mail`)]
}

async function issueWith(
  server: MailServer,
  { ca, timeoutMs }: { ca: string[] | undefined; timeoutMs: number },
): Promise<string | undefined> {
  const transport = createTransport(
    transportOptions(server, { connectMs: timeoutMs, silenceMs: timeoutMs, ca }),
  )
  try {
    const answer = await within(timeoutMs, transport.verify(), 'late' as const)
    return answer === 'late' ? TOO_SLOW : undefined
  } catch (error) {
    return wordsFor(error as NodemailerError & { originalCode?: string }, server)
  } finally {
    transport.close()
  }
}

const TOO_SLOW =
  'did not respond in time: check the firewall and port, or use smtps:// instead of smtp://'

/** The reason in words, checked in the order of the connection's steps. */
function wordsFor(error: NodemailerError & { originalCode?: string }, server: MailServer): string {
  const { code, originalCode = '' } = error
  const said = reasonOf(error, secretsOf(server))
  if (code === 'EDNS') return `has no address in DNS (${originalCode}): check the host name`
  if (originalCode === 'ECONNREFUSED') return 'refuses the connection: check host and port'
  if (code === 'ETIMEDOUT' || originalCode === 'ETIMEDOUT') return TOO_SLOW
  if (isAboutCertificate(originalCode))
    return `has a certificate that is not trusted (${said}): use the host name in it, or renew it`
  if (code === 'ETLS' || /SSL|TLS|EPROTO/.test(`${originalCode} ${said}`))
    return `does not speak TLS as configured (${said}): use smtp:// for port 587, smtps:// for 465`
  if (code === 'EAUTH')
    return `refuses the login (${said}): check the user and password in smtp_url`
  return `cannot be used: ${said}`
}
