import { createTransport, type NodemailerError } from 'nodemailer'
import type { Config } from '../../config/index.ts'
import { explanationOf, TOO_SLOW } from '../../platform/mail/explanation.ts'
import { type MailServer, mailServerOf, transportOptions } from '../../platform/mail/server.ts'
import { type Finding, ok, problem, within } from './finding.ts'

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
    return [
      ok(
        check,
        'not set up; emails are held. Set it up in the console, or [mail] smtp_url and from',
      ),
    ]
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
    return explanationOf(error as NodemailerError & { originalCode?: string }, server)
  } finally {
    transport.close()
  }
}
