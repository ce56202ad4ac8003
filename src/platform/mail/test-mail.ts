import { createTransport } from 'nodemailer'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../clock.ts'
import { withoutParts } from '../redaction.ts'
import { explanationOf, TOO_SLOW } from './explanation.ts'
import { domainOf, mailServerOf, secretsOf, senderOf, transportOptions } from './server.ts'
import { renderMail } from './template.ts'

/** A line of an SMTP dialogue, without passwords. */
interface DialogueLine {
  from: 'client' | 'server'
  text: string
}

/** What a mail server answered to a test message. */
export interface TestMail {
  /** Host and port. */
  server: string
  recipient: string
  /** Why it was not accepted, as a sentence that begins with the server; undefined if it was. */
  problem: string | undefined
  dialogue: readonly DialogueLine[]
}

/** Shorter than the time after which proxies give up on a page. */
const MAX_MS = 15_000
const MAX_LINES = 60

/** Sends a test message immediately, without the outbox. Never rejects for an error of the server. */
export async function sendTestMail(parts: {
  clock: Clock
  settings: Config['mail']
  brandName: string
  installationName: string
  recipient: string
  /** Additional trusted root certificates, PEM. */
  ca?: string[] | undefined
}): Promise<TestMail | undefined> {
  const { clock, settings, brandName, installationName, recipient, ca } = parts
  const { smtpUrl, from } = settings
  if (smtpUrl === undefined || from === undefined) return undefined
  const server = mailServerOf(smtpUrl)
  const sender = senderOf(from, brandName)
  const dialogue: DialogueLine[] = []
  const deadline = new AbortController()
  const cancel = clock.after(MAX_MS, () => deadline.abort())
  const transport = createTransport({
    ...transportOptions(server, { connectMs: MAX_MS, silenceMs: MAX_MS, ca }),
    transactionLog: true,
    logger: recorderOf(dialogue, secretsOf(server)),
  })
  const address = `${server.host}:${server.port}`
  const answered = (problem?: string): TestMail => ({
    server: address,
    recipient,
    problem: problem && `${address} ${problem}`,
    dialogue,
  })
  try {
    await transport.sendMail({
      messageId: `<${crypto.randomUUID()}@${domainOf(sender)}>`,
      date: new Date(clock.now()),
      from: sender,
      to: { name: '', address: recipient },
      subject: `Test message from ${installationName}`,
      ...contentOf(installationName),
      xMailer: false,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: deadline.signal,
    })
    return answered()
  } catch (error) {
    return answered(deadline.signal.aborted ? TOO_SLOW : explanationOf(error as Error, server))
  } finally {
    cancel()
    transport.close()
  }
}

const contentOf = (installationName: string) =>
  renderMail({
    language: 'en',
    tenantName: installationName,
    heading: 'Your mail server works',
    paragraphs: [
      `This is a test message from ${installationName}. It was accepted by the mail server that is configured there.`,
    ],
    footer: 'An admin sent it from the console. You can ignore it.',
  })

/** A logger of the library that keeps only what both sides say. The library masks credentials itself. */
function recorderOf(dialogue: DialogueLine[], hidden: readonly string[]) {
  const ignore = () => {}
  const debug = ({ tnx }: { tnx?: string }, text: unknown) => {
    if ((tnx !== 'client' && tnx !== 'server') || dialogue.length >= MAX_LINES) return
    for (const line of String(text).split(/\r?\n/))
      dialogue.push({ from: tnx, text: withoutParts(line, hidden) })
  }
  return {
    level: ignore,
    trace: ignore,
    debug,
    info: ignore,
    warn: ignore,
    error: ignore,
    fatal: ignore,
  }
}
