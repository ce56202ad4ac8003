import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'

/** Greets at once, instead of after the 100 ms in which it looks for clients that talk too soon. */
SMTPConnection.prototype.init = function init(this: SMTPConnection) {
  this._setListeners(() => setImmediate(() => this.connectionReady()))
}

export interface Received {
  /** As in the envelope. */
  from: string
  to: string[]
  user: string | undefined
  isSecure: boolean
  parsed: ParsedMail
}

type Step = 'connect' | 'mail' | 'rcpt' | 'data'

/** A real SMTP server on loopback that keeps what it is handed, and refuses what it is told to. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const sources: string[] = []
  const connections = { count: 0 }
  const refusals = new Map<Step, { code: number; message: string }>()

  const answer = (step: Step, done: (error?: Error | null) => void) => {
    const refusal = refusals.get(step)
    done(refusal && Object.assign(new Error(refusal.message), { responseCode: refusal.code }))
  }

  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 10,
    onConnect: (_session, done) => {
      connections.count++
      answer('connect', done)
    },
    onMailFrom: (_address, _session, done) => answer('mail', done),
    onRcptTo: (_address, _session, done) => answer('rcpt', done),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const source = Buffer.concat(chunks)
        sources.push(source.toString('latin1'))
        const { mailFrom, rcptTo } = session.envelope
        if (!refusals.has('data'))
          received.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(({ address }) => address),
            user: session.user,
            isSecure: session.secure,
            parsed: await simpleParser(source),
          })
        answer('data', done)
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo

  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** What it was handed, refused or not. */
    sources,
    connections,
    /** From now on refuses at this step. */
    refuses: (step: Step, code: number, message: string) => {
      refusals.set(step, { code, message })
    },
    /** From now on takes everything again. */
    recovers: () => refusals.clear(),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
