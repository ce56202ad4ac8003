import { createTransport, type NodemailerError } from 'nodemailer'
import type { Config } from '../../config/index.ts'
import {
  type MailServer,
  mailServerOf,
  secretsOf,
  transportOptions,
} from '../../platform/mail/server.ts'
import { reasonOf } from '../../platform/mail/trouble.ts'
import { type Finding, ok, problem, within } from './finding.ts'
import { isAboutCertificate } from './words.ts'

const check = 'mail server'
const LONGEST_MS = 10_000

export interface MailServerOptions {
  /** Roots trusted beside the usual ones, PEM. */
  ca?: string[]
  timeoutMs?: number
}

/** Says hello to the server for mail, logs in, and leaves again: nothing is sent. */
export async function mailServer(
  { mail }: Pick<Config, 'mail'>,
  { ca, timeoutMs = LONGEST_MS }: MailServerOptions = {},
): Promise<Finding[]> {
  if (mail.smtpUrl === undefined)
    return [ok(check, 'none; mails are kept. [mail] smtp_url and from name one')]
  if (mail.from === undefined) return [problem(check, 'set [mail] from, the sender of mails')]
  const server = mailServerOf(mail.smtpUrl)
  const place = `${server.host}:${server.port}`
  const trouble = await troubleWith(server, { ca, timeoutMs })
  return [trouble ? problem(check, `${place} ${trouble}`) : ok(check, `${place} takes mail`)]
}

async function troubleWith(
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
  'does not answer in time: a firewall, the wrong port, or smtp:// where it wants smtps://'

/** What was met on the way, in the order of the way. */
function wordsFor(error: NodemailerError & { originalCode?: string }, server: MailServer): string {
  const { code, originalCode = '' } = error
  const said = reasonOf(error, secretsOf(server))
  if (code === 'EDNS') return `has no address in DNS (${originalCode}): check its name`
  if (originalCode === 'ECONNREFUSED') return 'refuses the connection: check host and port'
  if (code === 'ETIMEDOUT' || originalCode === 'ETIMEDOUT') return TOO_SLOW
  if (isAboutCertificate(originalCode))
    return `shows a certificate that is not trusted (${said}): use the name that stands in it, or renew it`
  if (code === 'ETLS' || /SSL|TLS|EPROTO/.test(`${originalCode} ${said}`))
    return `does not speak TLS as configured (${said}): smtp:// is for 587, smtps:// for 465`
  if (code === 'EAUTH') return `refuses the login (${said}): check user and password in smtp_url`
  return `cannot be used: ${said}`
}
