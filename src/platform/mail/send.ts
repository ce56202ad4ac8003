import { domainToASCII, domainToUnicode } from 'node:url'
import { createTransport } from 'nodemailer'
import type { Branding } from '../branding/index.ts'
import type { Clock } from '../clock.ts'
import type { Body } from './body.ts'
import { isFinal, reasonOf } from './failure.ts'
import { attachedLogos } from './logos.ts'
import { headerLine } from './one-line.ts'
import { domainOf, type MailServer, type Sender, secretsOf, transportOptions } from './server.ts'
import type { LeasedMail } from './store/rows.ts'

/** The result of an attempt: accepted, permanently refused, or to be retried. */
export type Sent =
  | { result: 'accepted' }
  | { result: 'refused'; reason: string }
  | { result: 'deferred'; reason: string }

export type Send = ReturnType<typeof createSend>

const CONNECT_MS = 10_000
/** Maximum duration of an attempt. */
export const SEND_MS = 30_000

const TOO_SLOW = `the mail server did not accept it within ${SEND_MS / 1000} seconds`
const STOPPED = 'Gatehouse stopped before the mail server responded'

/**
 * Each mail has its own connection. With `smtp://`, TLS is used and verified if offered. Otherwise
 * mails are sent unencrypted; with a password, sending fails instead, except to this machine.
 */
export function createSend(parts: {
  clock: Clock
  server: MailServer
  sender: Sender
  branding: Pick<Branding, 'of' | 'imageOf'>
  /** Additional trusted root certificates, PEM. */
  ca?: string[]
}) {
  const { clock, server, sender, branding, ca } = parts
  const domain = domainOf(sender)
  const transport = createTransport(
    transportOptions(server, { connectMs: CONNECT_MS, silenceMs: SEND_MS, ca }),
  )

  /** The same at every attempt, so that mail programs recognize duplicates by the message id. */
  const messageOf = (
    { id, tenantId, recipient, subject, createdAt }: LeasedMail,
    { text, html }: Body,
  ) => ({
    messageId: `<${id}@${domain}>`,
    date: new Date(createdAt),
    from: { ...sender, name: nameOf(tenantId) ?? sender.name },
    to: { name: '', address: recipient },
    subject,
    text,
    html,
    attachments: attachedLogos(branding, tenantId, html),
    baseBoundary: id,
    xMailer: false as const,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  })

  function nameOf(tenantId: string | null): string | null {
    const name = tenantId === null ? null : branding.of(tenantId).senderName
    return name && headerLine(name)
  }

  /** Sends a mail; never rejects. */
  async function send(mail: LeasedMail, body: Body, signal: AbortSignal): Promise<Sent> {
    const deadline = new AbortController()
    const cancel = clock.after(SEND_MS, () => deadline.abort())
    try {
      await transport.sendMail({
        ...messageOf(mail, body),
        signal: AbortSignal.any([signal, deadline.signal]),
      })
      return { result: 'accepted' }
    } catch (error) {
      if (deadline.signal.aborted) return { result: 'deferred', reason: TOO_SLOW }
      if (signal.aborted) return { result: 'deferred', reason: STOPPED }
      const hidden = [...secretsOf(server), ...secretsIn(body), ...spellingsOf(mail.recipient)]
      const reason = reasonOf(error, hidden)
      return { result: isFinal(error as Error) ? 'refused' : 'deferred', reason }
    } finally {
      cancel()
    }
  }

  return send
}

/** Codes and links with codes in a mail, with and without adjacent characters. */
const secretsIn = ({ text }: Body): string[] =>
  [/\S{6,}/g, /[\w-]{6,}/g]
    .flatMap((words) => text.match(words) ?? [])
    .filter((word) => /\d/.test(word))

/** Servers may return an address quoted, and its domain in ASCII or Unicode. */
function spellingsOf(address: string): string[] {
  const [, name = '', domain = ''] = /^(.+)@(.+)$/s.exec(address) ?? []
  if (domain === '') return [address]
  const domains = [domain, domainToASCII(domain), domainToUnicode(domain)]
  return [name, `"${name}"`].flatMap((local) => domains.map((domain) => `${local}@${domain}`))
}
